"""Draws what servers do under overload."""
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as pyplot  # noqa: E402


def draw(results, deadline_ms, path):
    """Goodput and the 99th percentile over the offered load. results: {server: [load.Offered]}"""
    figure, (top, bottom) = pyplot.subplots(2, 1, sharex=True, figsize=(7, 7), height_ratios=(3, 2))
    for name, line in results.items():
        offered = [each.offered for each in line]
        top.plot(offered, [each.good for each in line], marker="o", label=name)
        bottom.plot(offered, [each.p99 for each in line], marker="o", label=name)
    top.axline((0, 0), slope=1, color="gray", linestyle=":", label="all that was offered")
    highest = max(each.good for line in results.values() for each in line)
    top.set_ylim(0, 1.2 * highest)
    top.set_ylabel(f"answered within {deadline_ms} ms, a second")
    bottom.set_ylim(0, 1.1 * deadline_ms)
    bottom.set_ylabel("their 99th percentile, ms")
    bottom.set_xlabel("offered requests a second (MiniLM, 8 to 256 tokens)")
    top.legend()
    for each in (top, bottom):
        each.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
