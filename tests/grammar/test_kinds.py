"""Every key with every kind of value, every type in every place: the verdict and the bytes of torchgen.

A sample; all of them take an hour: `python -m tests.campaigns kinds`.
"""

from __future__ import annotations

from random import Random

import pytest
from never_wrong.kinds import Judge, Probe, probes
from never_wrong.oracle import Oracle

SAMPLE = 15

# Probes that once got another verdict.
FOUND = (
    "type: probe(Tensor self) -> Tensor?[] autogen: probe.out",
    "type: probe(Tensor self) -> (Tensor, Tensor[2]) autogen: probe.out",
    "type: probe(Tensor self) -> Tensor[][] autogen: probe.out",
    "derivatives.yaml: add.Tensor( output_differentiability: '{a: 1}'",
    "derivatives.yaml: exp( output_differentiability: '!!set {}'",
    "derivatives.yaml: exp( output_differentiability: '!!omap [a: b]'",
    "derivatives.yaml: noise( 1: '{1: a}'",
    "derivatives.yaml: noise( nope: '!!set {}'",
    "native_functions.yaml: add.out( precomputed: '0'",
    "tags.yaml: core ~: '!!pairs [a: b]'",
    "derivatives.yaml: exp( self: \"!!int ''\"",
)


@pytest.fixture(scope="module")
def all_probes() -> list[Probe]:
    return list(probes())


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, torchgen: Oracle) -> Judge:
    return Judge(tmp_path_factory.mktemp("kinds"), torchgen)


def wrong(judge: Judge, chosen: list[Probe]) -> list[str]:
    verdicts = ((probe.name, judge.judge(probe)) for probe in chosen)
    return [f"{name}: {verdict.wrong}: {verdict.detail}" for name, verdict in verdicts if verdict.wrong]


def test_probes_that_once_differed_get_the_verdict_of_torchgen(judge: Judge, all_probes: list[Probe]) -> None:
    chosen = [probe for probe in all_probes if probe.name in FOUND]
    assert len(chosen) == len(FOUND)
    assert wrong(judge, chosen) == []


def test_a_sample_of_probes_gets_the_verdict_of_torchgen(judge: Judge, all_probes: list[Probe]) -> None:
    assert wrong(judge, Random(0).sample(all_probes, SAMPLE)) == []
