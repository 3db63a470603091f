// Browsers start no worker for a page that was opened from a folder: there the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      const page = this.scope.document;
      page.open();
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.started = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
      page.write(`<script src="${url}"></script>`);
      page.close();
    }

    postMessage(data) {
      this.started.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
