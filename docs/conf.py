"""How Sphinx builds the site: `make docs`."""

import sys
from pathlib import Path

from steelyard.metrics.metric import VERSION

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Steelyard"
release = VERSION
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "generated",
    "content_policy",
]
myst_heading_anchors = 4

# In docstrings a word between backticks is code.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"Steelyard {release}"
html_favicon = "../web/static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_use_index = False
html_copy_source = False
html_show_copyright = False
html_theme_options = {"footer_icons": [], "light_css_variables": {"font-stack": "system-ui, sans-serif"}}
