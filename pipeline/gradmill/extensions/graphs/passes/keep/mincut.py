"""The minimum cut of a directed graph, by Dinic's algorithm: the cheapest edges that part a source and a sink."""

from __future__ import annotations

INFINITE = 1 << 100
SOURCE, SINK = 0, 1


class Network:
    """A graph with capacities. Its nodes are numbers; SOURCE and SINK are there from the start."""

    def __init__(self) -> None:
        self._edges: list[list[int]] = [[], []]  # of each node: the numbers of edges; the reverse of edge e is e ^ 1
        self._ends: list[int] = []
        self._capacities: list[int] = []

    def node(self) -> int:
        """A new node."""
        self._edges.append([])
        return len(self._edges) - 1

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Adds an edge."""
        for node, other, amount in ((start, end, capacity), (end, start, 0)):
            self._edges[node].append(len(self._ends))
            self._ends.append(other)
            self._capacities.append(amount)

    def cut(self) -> list[bool]:
        """For each node, whether the sink is reached from it once the cheapest edges are cut; of equal cuts the one
        nearest the sink. Leaves the flow in the network."""
        while (levels := self._distances(SOURCE))[SINK] >= 0:
            self._block(levels)
        return [distance >= 0 for distance in self._distances(SINK, backwards=True)]

    def _distances(self, start: int, *, backwards: bool = False) -> list[int]:
        """The distance of each node from another one along edges that have capacity left; -1 if there is no way.
        `backwards`: from each node to that one."""
        distances = [-1] * len(self._edges)
        distances[start] = 0
        queue = [start]
        for node in queue:  # grows
            for edge in self._edges[node]:
                end = self._ends[edge]
                if distances[end] < 0 < self._capacities[edge ^ backwards]:
                    distances[end] = distances[node] + 1
                    queue.append(end)
        return distances

    def _block(self, levels: list[int]) -> None:
        """Adds flow along shortest ways until none is left."""
        at = [0] * len(self._edges)  # of each node: the edges that are used up
        path: list[int] = []
        node = SOURCE
        while True:
            if node == SINK:
                self._push(path)
                path, node = [], SOURCE
                continue
            edges = self._edges[node]
            while at[node] < len(edges) and not self._leads_on(edges[at[node]], node, levels):
                at[node] += 1
            if at[node] < len(edges):
                path.append(edges[at[node]])
                node = self._ends[path[-1]]
            elif not path:
                return
            else:
                node = self._ends[path.pop() ^ 1]
                at[node] += 1

    def _leads_on(self, edge: int, node: int, levels: list[int]) -> bool:
        return self._capacities[edge] > 0 and levels[self._ends[edge]] == levels[node] + 1

    def _push(self, path: list[int]) -> None:
        least = min(self._capacities[edge] for edge in path)
        for edge in path:
            self._capacities[edge] -= least
            self._capacities[edge ^ 1] += least
