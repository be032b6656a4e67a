"""Spark, through Spark Connect: tables that lie on many machines."""
