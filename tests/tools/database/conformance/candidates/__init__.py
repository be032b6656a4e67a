"""The engines that are held against the suite."""
