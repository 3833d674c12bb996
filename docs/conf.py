"""What Sphinx needs to know. The pages it reads are put together by make_site.py."""

from api_pages import as_rst

import phloat

project = "phloat"
author = copyright = "The phloat developers"
version = release = phloat.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "phloat"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_use_index = False  # its words are for the search
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
pygments_style, pygments_dark_style = "tango", "github-dark"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.xref_ambiguous"]

nb_execution_mode = "cache"  # a page whose code did not change is not run again
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # the first motion compiles the time step
nb_merge_streams = True

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"


def setup(app):
    app.connect("autodoc-process-docstring", lambda app, what, name, thing, options, lines: as_rst(lines))
    app.connect("autodoc-process-signature", signed)


def signed(app, what, name, thing, options, signature, returns):
    """A signature that Sphinx can take apart: the default of a field that is made anew each time is written as ..."""
    return signature and signature.replace("<factory>", "..."), returns
