"""Files of direct assessments and error annotations, as annotation tools and shared tasks write them."""
