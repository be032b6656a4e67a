"""What the engines that talk to a server share: reading statements, pooling, limits, schema and samples."""
