"""Rows of tomorrow: labels for rows that were not there when the clusters were found."""
