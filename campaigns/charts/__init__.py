"""Charts as SVG, for a file or a page: coloured by classes, without scripts or styles."""

from campaigns.charts.curve import Series, curve
from campaigns.charts.scatter import scatter
from campaigns.charts.series import chart_of_runs, charts_of_runs

__all__ = ["Series", "chart_of_runs", "charts_of_runs", "curve", "scatter"]
