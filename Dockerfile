FROM python:3.11-slim

RUN apt-get update \
    && apt-get install -y --no-install-recommends libgl1 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd -m -u 1000 user

USER user
WORKDIR /home/user/app
# First only what the set-up needs, so that a change of the code does not install everything again.
COPY --chown=user scripts/start.py scripts/start.py
COPY --chown=user start.sh requirements*.txt constraints.txt ./
# No card can be seen while an image is built, so say that there will be one; for a machine without:
#   docker build --build-arg BUILD=--cpu .
ARG BUILD=--nvidia
RUN ./start.sh --setup-only $BUILD && rm -rf ~/.cache
COPY --chown=user . .

ENV FACEFUSION_HOST=0.0.0.0 FACEFUSION_PORT=7860 FACEFUSION_DATA_FOLDER=/home/user/app/data
VOLUME ["/home/user/app/data", "/home/user/app/models/downloaded"]
EXPOSE 7860
HEALTHCHECK --start-period=60s CMD .venv/bin/python -c \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/', timeout=5)"
CMD [".venv/bin/python", "app.py", "--no-browser"]
