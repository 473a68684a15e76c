# SPDX-License-Identifier: MIT
"""The checks of check_exec.py, by subject."""
