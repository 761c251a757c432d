"""Linear algebra: knows no words and no trees."""
