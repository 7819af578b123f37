"""What annotation tools ask people: outputs of systems, written as Appraise and Pearmut take them."""
