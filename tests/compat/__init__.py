"""What earlier versions wrote, and that it still opens."""
