"""Statistics of rows that learners are solved from, and how many digits of them are correct."""
