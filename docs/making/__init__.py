"""What makes the documentation: pictures, the API reference, the site. Not in the package."""
