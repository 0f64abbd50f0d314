import { createRequire } from 'node:module';

/**
 * llhttp, the parser of Node.js itself, as WebAssembly: undici carries it (`lib/llhttp`, a path that is no promise of its
 * package: its version is pinned). One instance for the process; the parsers of all connections live in its memory.
 * Source: llhttp 9, `llhttp_settings_t`; RFC 9112.
 */

/** What a parser finds, in the order in which it stands there. Pieces of a text may come apart. Must not throw. */
export interface HttpSink {
  /** A piece of the target of a request. */
  onUrl(bytes: Buffer, start: number, end: number): void;
  /** A piece of the name of a field. */
  onField(bytes: Buffer, start: number, end: number): void;
  /** A piece of the value of the field named last. */
  onValue(bytes: Buffer, start: number, end: number): void;
  /** The head is whole. @returns whether to stop behind it. */
  onHead(status: number, keepAlive: boolean, upgrade: boolean): boolean;
  /** A piece of the body. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The message is whole. @returns whether to stop behind it. */
  onEnd(): boolean;
}

type Exports = Readonly<{
  memory: Readonly<{ buffer: ArrayBuffer }>;
  _initialize?: () => void;
  malloc(bytes: number): number;
  llhttp_alloc(type: number): number;
  llhttp_free(parser: number): void;
  llhttp_reset(parser: number): void;
  llhttp_resume(parser: number): void;
  llhttp_resume_after_upgrade(parser: number): void;
  llhttp_finish(parser: number): number;
  llhttp_execute(parser: number, data: number, length: number): number;
  llhttp_get_error_pos(parser: number): number;
  llhttp_get_http_minor(parser: number): number;
}>;

/** As much of the global as is used here: the types of Node.js do not have it. */
declare const WebAssembly: Readonly<{
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => Readonly<{ exports: Exports }>;
}>;

const REQUEST = 1;
const RESPONSE = 2;
/** Of `llhttp_errno`. */
const [OK, PAUSED, PAUSED_UPGRADE] = [0, 21, 22];

/** Bytes that are given to the instance at a time. */
const PIECE_BYTES = 64 * 1024;

const require = createRequire(import.meta.url);

function load(): Exports {
  const env = {
    wasm_on_message_begin: () => OK,
    wasm_on_status: () => OK,
    wasm_on_url: (_parser: number, at: number, length: number) => {
      current.onUrl(source, at - shift, at - shift + length);
      return OK;
    },
    wasm_on_header_field: (_parser: number, at: number, length: number) => {
      current.onField(source, at - shift, at - shift + length);
      return OK;
    },
    wasm_on_header_value: (_parser: number, at: number, length: number) => {
      current.onValue(source, at - shift, at - shift + length);
      return OK;
    },
    wasm_on_body: (_parser: number, at: number, length: number) => {
      current.onBody(source, at - shift, at - shift + length);
      return OK;
    },
    wasm_on_headers_complete: (_parser: number, status: number, upgrade: number, keepAlive: number) =>
      current.onHead(status, keepAlive === 1, upgrade === 1) ? PAUSED : OK,
    wasm_on_message_complete: () => (current.onEnd() ? PAUSED : OK),
  };
  const bytes = require('undici/lib/llhttp/llhttp_simd-wasm.js') as Uint8Array;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env });
  exports._initialize?.();
  return exports;
}

const noSink: HttpSink = {
  onUrl: () => {},
  onField: () => {},
  onValue: () => {},
  onHead: () => true,
  onBody: () => {},
  onEnd: () => true,
};

const EMPTY = Buffer.alloc(0);

/** Whose bytes are read just now, and what an address of the instance is less by in them. */
let current: HttpSink = noSink;
let source: Buffer = EMPTY;
let shift = 0;

const llhttp = load();
const inputPointer = llhttp.malloc(PIECE_BYTES);
/** Anew when the memory has grown: what was seen of it before is gone then. */
let view = Buffer.from(llhttp.memory.buffer, inputPointer, PIECE_BYTES);

/** As Buffer copies, so that no view into the bytes has to be made. A view of memory that is gone has no length. */
function copyIn(bytes: Buffer, start: number, length: number): void {
  if (view.length === 0) view = Buffer.from(llhttp.memory.buffer, inputPointer, PIECE_BYTES);
  bytes.copy(view, 0, start, start + length);
}

/**
 * Reads the messages of one connection. What it finds it tells its sink, within `read`; a sink only takes note, and acts
 * when `read` has returned, because there is one instance for all.
 */
export class HttpParser {
  readonly #parser: number;
  readonly #sink: HttpSink;
  #isFaulty = false;
  #isFree = false;

  constructor(kind: 'request' | 'response', sink: HttpSink) {
    this.#parser = llhttp.llhttp_alloc(kind === 'request' ? REQUEST : RESPONSE);
    this.#sink = sink;
  }

  /** The bytes were no HTTP: nothing more can be read. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  /** 1 for HTTP/1.1. */
  get minorVersion(): number {
    return llhttp.llhttp_get_http_minor(this.#parser);
  }

  /**
   * Reads on, until the sink says stop, bytes are no HTTP, or there are none left.
   * @returns how far it came: what follows was not looked at.
   */
  read(bytes: Buffer, start = 0, end = bytes.length): number {
    let at = start;
    while (at < end && !this.#isFaulty) {
      const length = Math.min(PIECE_BYTES, end - at);
      copyIn(bytes, at, length);
      current = this.#sink;
      source = bytes;
      shift = inputPointer - at;
      const code = llhttp.llhttp_execute(this.#parser, inputPointer, length);
      current = noSink;
      source = EMPTY;
      if (code === OK) {
        at += length;
        continue;
      }
      const stoppedAt = llhttp.llhttp_get_error_pos(this.#parser) - inputPointer + at;
      if (code === PAUSED) llhttp.llhttp_resume(this.#parser);
      else if (code === PAUSED_UPGRADE) llhttp.llhttp_resume_after_upgrade(this.#parser);
      else this.#isFaulty = true;
      return stoppedAt;
    }
    return at;
  }

  /** Forgets what was read: what comes next begins a message. */
  reset(): void {
    llhttp.llhttp_reset(this.#parser);
    this.#isFaulty = false;
  }

  /**
   * The other side has ended. A body that goes on until then ends with it.
   * @returns whether that is where a message may end.
   */
  finish(): boolean {
    if (this.#isFaulty) return false;
    current = this.#sink;
    const code = llhttp.llhttp_finish(this.#parser);
    current = noSink;
    return code === OK || code === PAUSED;
  }

  /** Gives its memory back. Nothing may be asked of it afterwards. */
  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    llhttp.llhttp_free(this.#parser);
  }
}
