// What the page asks of its server (docs/serve.md). Addresses are relative, so that the app can be mounted anywhere.
import { say } from "./labels.js";

export class ApiError extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** What the window is told when a request was refused for want of a session. */
export const SIGNED_OUT = "tableturn-signed-out";

const EVENTS = "text/event-stream";
const MOST_TRIES = 6;

export const get = async (path) => exact(await (await send("GET", path)).text());
export const post = async (path, body) => exact(await (await send("POST", path, body)).text());
export const patch = async (path, body) => exact(await (await send("PATCH", path, body)).text());
export const remove = (path) => send("DELETE", path);

/** A chart's specification; its numbers are numbers, as a drawing needs them. */
export const getChart = async (path) => (await send("GET", path)).json();

/** A file, handed to the browser as a download once all of it has come. */
export async function download(path, name) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The events of a turn: of a new one where there is a body, else of one that runs. A broken line is taken up again. */
export async function* events(path, body, signal) {
  let reply = await send(body ? "POST" : "GET", path, body, { accept: EVENTS }, signal);
  let turn = reply.headers.get("tableturn-turn");
  for (let last = 0, tries = 0; ; tries++) {
    try {
      for await (const event of read(reply.body)) {
        [last, tries] = [event.id, 0];
        turn = event.turn ?? turn;
        yield event;
        if (event.event === "answer" || event.event === "error") return;
      }
    } catch (error) {
      if (signal.aborted) throw error;
    }
    if (!turn || tries === MOST_TRIES) throw new ApiError(0, "Offline", say("page_unreachable"));
    await new Promise((resume) => setTimeout(resume, 500 * 2 ** tries));
    const again = { accept: EVENTS, "last-event-id": String(last) };
    reply = await send("GET", `turns/${turn}/events`, undefined, again, signal).catch((error) => {
      if (error.status || signal.aborted) throw error;
      return { body: null };
    });
  }
}

async function send(method, path, body, headers = {}, signal = undefined) {
  const options = { method, signal, headers: { ...headers } };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const reply = await fetch(new URL(path, document.baseURI), options).catch((error) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "Offline", say("page_unreachable"));
  });
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => ({}));
  const { kind = "Error", message = say("page_server_says", { status: reply.status }) } = told.error ?? {};
  if (reply.status === 401) dispatchEvent(new Event(SIGNED_OUT));
  throw new ApiError(reply.status, kind, message);
}

/** JSON in which integers that JavaScript would round stay as they were written, as text. */
function exact(text) {
  return text && JSON.parse(text, (_, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source ? context.source : value);
}

async function* read(body) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const of = (field) => lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
      const data = of("data").join("\n");
      if (data) yield { ...exact(data), id: Number(of("id")[0] ?? 0) };
    }
  }
}
