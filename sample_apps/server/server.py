"""A web service that says what is in a photo, and a page to try it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, HTTPException, UploadFile
from fastapi.responses import HTMLResponse
from vision import Classifier, ModelError, ModelErrorCode

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>What is in a photo</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 2rem auto; padding: 0 1rem }</style>
<h1>What is in a photo</h1>
<p><label>Photo: <input type="file" accept="image/*"></label></p>
<ol aria-live="polite"></ol>
<script>
const list = document.querySelector('ol');
document.querySelector('input').addEventListener('change', async ({ target }) => {
  const body = new FormData();
  body.append('photo', target.files[0]);
  const answer = await fetch('classify', { method: 'POST', body });
  const found = await answer.json();
  const lines = answer.ok ? found.map((each) => `${each.label}: ${(100 * each.score).toFixed(1)} %`) : [found.detail];
  list.replaceChildren(...lines.map((line) => Object.assign(document.createElement('li'), { textContent: line })));
});
</script>
"""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One model for all requests; each process of a server loads its own."""
    with Classifier.load() as app.state.model:
        yield


app = FastAPI(title="What is in a photo", lifespan=lifespan)


@app.get("/", response_class=HTMLResponse)
async def page() -> str:
    return PAGE


@app.post("/classify")
async def classify(photo: UploadFile) -> list[dict[str, Any]]:
    """The classes of a photo, the most probable first."""
    try:
        found = await app.state.model.classify_async(await photo.read())
    except ModelError as error:
        raise HTTPException(400 if error.code is ModelErrorCode.BAD_INPUT else 500, str(error)) from error
    return [asdict(each) for each in found]


@app.get("/metrics")
async def metrics() -> dict[str, Any]:
    """Runs and their times, by OpenTelemetry's names."""
    return dict(app.state.model.metrics().attributes())
