"""Runs bench_chats and llama.cpp in turn: a table of medians, and a plot."""
import argparse
import collections
import json
import statistics
import subprocess

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as pyplot  # noqa: E402

COUNTS = [1, 2, 4, 8]


def measured(command, rounds):
    """{chats: [line of JSON]}, of each program."""
    lines = {name: collections.defaultdict(list) for name in command}
    for done in range(rounds):
        for name, words in command.items():
            print(f"bench-text: round {done + 1} of {rounds}: {name}", flush=True)
            output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
            for line in map(json.loads, filter(None, output.splitlines())):
                lines[name][line["chats"]].append(line)
    return lines


def spread(lines, key):
    values = sorted(line[key] for line in lines)
    return f"{statistics.median(values):.3g} ({values[0]:.3g} to {values[-1]:.3g})"


def draw(lines, path):
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, by_count in lines.items():
        values = [[line["tokens_per_second"] for line in by_count[count]] for count in COUNTS]
        middle = [statistics.median(each) for each in values]
        below = [m - min(each) for m, each in zip(middle, values)]
        above = [max(each) - m for m, each in zip(middle, values)]
        axes.errorbar(COUNTS, middle, (below, above), marker="o", capsize=3, label=name)
    axes.set_xticks(COUNTS)
    axes.set_ylim(0)
    axes.set_xlabel("chats at once (64 greedy tokens each)")
    axes.set_ylabel("tokens a second, all together")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ours", help="bench_chats")
    parser.add_argument("peer", help="the folder with node-llama-cpp")
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", default="build/chats.png")
    options = parser.parse_args()
    words = [options.model, str(options.cores), *map(str, COUNTS)]
    lines = measured(
        {
            "Polychron": [options.ours, *words],
            "llama.cpp": ["node", f"{options.peer}/peer.mjs", *words],
        },
        options.rounds,
    )
    print("| chats | program | tokens/s | median between two, ms | 99th percentile, ms |")
    print("|---|---|---|---|---|")
    for count in COUNTS:
        for name in lines:
            own = lines[name][count]
            cells = [spread(own, key) for key in ("tokens_per_second", "median_ms", "p99_ms")]
            print(f"| {count} | {name} | {' | '.join(cells)} |")
    draw(lines, options.plot)


main()
