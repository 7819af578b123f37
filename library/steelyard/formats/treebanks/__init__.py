"""TectoMT and Treex documents: trees read as a stream, and the layers made of them."""
