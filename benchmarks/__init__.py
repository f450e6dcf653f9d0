"""What gitralph costs against git, as ratios: ``make bench``."""
