"""The few long-lived objects, built once by ``app.py``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from core import registry
from core.config import PROJECT, Settings
from core.errors import OptionError
from core.faces.analyse import MODELS as FACE_MODELS
from core.pipeline.render import Renderer
from core.runtime.downloads import Downloads
from core.runtime.sessions import SessionPool
from core.runtime.weights import WeightStore
from core.safety.content import NSFW5
from core.safety.provenance import Provenance
from core.sentences import say
from core.system import ModelFacts, SystemFacts, look_at_system, model_facts
from core.types import ModelSpec

EMBEDDED = PROJECT / "models" / "embedded"


@dataclass(frozen=True, slots=True)
class Services:
    """What front ends are given. Holds no visitor's data."""

    settings: Settings
    weights: WeightStore
    downloads: Downloads
    sessions: SessionPool
    provenance: Provenance
    renderer: Renderer

    def models(self) -> tuple[ModelSpec, ...]:
        """Every model the program knows, built-in ones first, each once."""
        specs = {spec.name: spec for spec in (*FACE_MODELS, NSFW5, *registry.models())}
        return tuple(sorted(specs.values(), key=lambda spec: not spec.embedded))

    def model(self, name: str) -> ModelSpec:
        """The model called ``name``; OptionError with a suggestion when there is none."""
        known = {spec.name: spec for spec in self.models()}
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known)}."
            raise OptionError(say("err.no_model", name=name), hint=hint)
        return known[name]

    def model_rows(self, names: Sequence[str] = (), *, verify: bool = False) -> list[ModelFacts]:
        """Facts about the named models, or all; ``verify`` compares checksums."""
        specs = [self.model(name) for name in names] or self.models()
        return [model_facts(self.weights, spec, verify=verify) for spec in specs]

    def system(self, provider: str | None = None, *, self_test: bool = False) -> SystemFacts:
        """Where each model runs on this computer; loads those that are here.

        Without a provider, or with ``auto``, as the settings of this machine say.
        """
        asked = self.settings.provider if provider in (None, "auto") else provider
        return look_at_system(
            self.sessions,
            self.weights,
            self.models(),
            asked,
            self_test=self_test,
        )

    def free_memory(self) -> int:
        """Unload all models and forget kept pictures; about how many MB that gave back."""
        self.renderer.free()
        return self.sessions.unload()


def build_services(settings: Settings) -> Services:
    """Make everything; loads no model and uses no network."""
    weights = WeightStore(
        settings.model_folder,
        embedded=EMBEDDED,
        offline=settings.offline,
        endpoint=settings.hub_endpoint,
    )
    sessions = SessionPool(
        weights, provider=settings.provider, idle_unload_s=settings.idle_unload_s
    )
    provenance = Provenance(settings.data_folder)
    return Services(
        settings=settings,
        weights=weights,
        downloads=Downloads(weights),
        sessions=sessions,
        provenance=provenance,
        renderer=Renderer(settings, sessions, provenance),
    )
