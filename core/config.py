"""Settings of this machine, read once by ``app.py`` from the environment and from flags.

A setting concerns the machine; an option concerns a picture (see ``core.registry``).
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"


def default_data_folder() -> Path:
    """``data`` beside the program when that may be written, else a folder in the home."""
    return PROJECT / "data" if os.access(PROJECT, os.W_OK) else Path.home() / ".facefusion-ui"


def default_model_folder() -> Path:
    """``models/downloaded`` beside the program when that may be written, else in the home."""
    beside = PROJECT / "models"
    return (
        beside / "downloaded"
        if os.access(beside, os.W_OK)
        else Path.home() / ".facefusion-ui" / "models"
    )


class Settings(BaseSettings):
    """Environment variables start with ``FACEFUSION_``, for example ``FACEFUSION_PORT=8080``."""

    model_config = SettingsConfigDict(env_prefix="FACEFUSION_", frozen=True, extra="ignore")

    data_folder: Path = Field(
        default_factory=default_data_folder, description="Results, signing key, job table."
    )
    model_folder: Path = Field(
        default_factory=default_model_folder, description="Downloaded weights."
    )
    offline: bool = Field(default=False, description="Never use the network, not even when asked.")
    hub_endpoint: str = Field(default="", description="Mirror of the Hugging Face Hub.")
    provider: str = Field(default="auto", description="Execution provider, or auto.")
    workers: int = Field(default=0, ge=0, le=64, description="Parallel frames; 0 = by the machine.")
    host: str = Field(default="127.0.0.1", description="Address the page listens on.")
    port: int = Field(default=7860, ge=0, le=65535, description="Port of the page.")
    public: bool = Field(default=False, description="Strangers may use the page.")
    keep_hours: int = Field(default=24, ge=1, description="How long results are kept when public.")
    max_upload_mb: int = Field(default=200, ge=1, description="Largest file that may be given.")
    max_megapixels: int = Field(default=120, ge=1, description="Largest picture that is opened.")
    idle_unload_s: int = Field(default=900, ge=0, description="Free idle models after; 0 = never.")

    @property
    def outputs(self) -> Path:
        """Where results go when no place was named."""
        return self.data_folder / "outputs"

    @property
    def uploads(self) -> Path:
        """Where the page keeps what visitors gave it, one folder a run."""
        return self.data_folder / "uploads"
