import { createRequire } from 'node:module';

/**
 * llhttp, the HTTP parser of Node.js, as WebAssembly from undici. undici's version is pinned, because `lib/llhttp` is
 * not a public path. One instance per process holds the parsers of all connections. Source: llhttp 9,
 * `llhttp_settings_t`; RFC 9112.
 */

/** Receives parts of a message in order. A URL, name or value may arrive in several pieces. Must not throw. */
export interface HttpSink {
  onUrl(bytes: Buffer, start: number, end: number): void;
  onField(bytes: Buffer, start: number, end: number): void;
  /** Value of the header whose name was received last. */
  onValue(bytes: Buffer, start: number, end: number): void;
  /** @returns whether to stop after the head. */
  onHead(status: number, keepAlive: boolean, upgrade: boolean): boolean;
  onBody(bytes: Buffer, start: number, end: number): void;
  /** @returns whether to stop after the message. */
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

/** Declares only the part used here; the Node.js types lack WebAssembly. */
declare const WebAssembly: Readonly<{
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => Readonly<{ exports: Exports }>;
}>;

const REQUEST = 1;
const RESPONSE = 2;
/** Values of `llhttp_errno`. */
const [OK, PAUSED, PAUSED_UPGRADE] = [0, 21, 22];

/** Maximum bytes copied to the WebAssembly instance at a time. */
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

/** State of the current `read`; `shift` converts instance addresses to offsets in `source`. */
let current: HttpSink = noSink;
let source: Buffer = EMPTY;
let shift = 0;

const llhttp = load();
const inputPointer = llhttp.malloc(PIECE_BYTES);
/** Recreated after the WebAssembly memory has grown, because growth detaches the view. */
let view = Buffer.from(llhttp.memory.buffer, inputPointer, PIECE_BYTES);

/** Copies with `Buffer.copy`, which needs no `subarray` of the source. A detached view has length 0. */
function copyIn(bytes: Buffer, start: number, length: number): void {
  if (view.length === 0) view = Buffer.from(llhttp.memory.buffer, inputPointer, PIECE_BYTES);
  bytes.copy(view, 0, start, start + length);
}

/** Parser of one connection. The sink must only record data during `read`, because all parsers share one instance. */
export class HttpParser {
  readonly #parser: number;
  readonly #sink: HttpSink;
  /** Whether invalid bytes were read; if so, the parser reads nothing more until `reset`. */
  isFaulty = false;
  #isFree = false;

  constructor(kind: 'request' | 'response', sink: HttpSink) {
    this.#parser = llhttp.llhttp_alloc(kind === 'request' ? REQUEST : RESPONSE);
    this.#sink = sink;
  }

  get minorVersion(): number {
    return llhttp.llhttp_get_http_minor(this.#parser);
  }

  /** Reads until the sink stops the parser, a byte is invalid or the input ends. @returns the offset reached. */
  read(bytes: Buffer, start = 0, end = bytes.length): number {
    let at = start;
    while (at < end && !this.isFaulty) {
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
      else this.isFaulty = true;
      return stoppedAt;
    }
    return at;
  }

  reset(): void {
    llhttp.llhttp_reset(this.#parser);
    this.isFaulty = false;
  }

  /** Ends a body that extends to the end of the connection. @returns whether the message may end here. */
  finish(): boolean {
    if (this.isFaulty) return false;
    current = this.#sink;
    const code = llhttp.llhttp_finish(this.#parser);
    current = noSink;
    return code === OK || code === PAUSED;
  }

  /** The parser must not be used afterwards. */
  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    llhttp.llhttp_free(this.#parser);
  }
}
