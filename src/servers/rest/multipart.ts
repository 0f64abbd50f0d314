import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { Upload } from '../../protocol/rest/route.ts';
import { exemptFromTimeout } from '../http/connection.ts';

export const uploadLimits = {
  fileMaxBytes: 100 * 1024 * 1024,
  /** Body bytes in addition to the file: boundaries, part headers and other fields. */
  overheadMaxBytes: 1024 * 1024,
  partsMax: 100,
  partHeadersMax: 32,
  partHeadersMaxBytes: 8 * 1024,
  /** An upload that receives less than `progressMinBytes` in this time is ended, unless backpressure slowed it down. */
  progressMs: 30_000,
  progressMinBytes: 64 * 1024,
  uploadMaxMs: 30 * 60_000,
};

export type UploadLimits = Readonly<typeof uploadLimits>;

/** Name of the file part. Source: rest-api.md §2.21. */
const FILE_PART = 'file';

/** Maximum length of a stored file name or type, in characters. */
const NAME_MAX = 255;

const FIELD_MAX_BYTES = 1;

const ignore = (): void => {};

/**
 * Reads the `file` part of a multipart/form-data body. Resolves once the headers of the part have arrived. Iteration of
 * `bytes` completes once the whole body has been read and is well formed; stopping it early aborts the upload.
 * @throws Failure, also from the iteration of `bytes`; InvalidFields if there is no `file` part.
 */
export function readUpload(
  request: IncomingMessage,
  response: ServerResponse,
  limits: Partial<UploadLimits> = {},
): Promise<Upload> {
  return new UploadReader(request, response, { ...uploadLimits, ...limits }).file;
}

/** Pipes a request through busboy, with backpressure. */
class UploadReader {
  readonly #request: IncomingMessage;
  readonly #limits: UploadLimits;
  readonly #file = Promise.withResolvers<Upload>();
  /** Resolves once the whole body has been read and is well formed. */
  readonly #completed = Promise.withResolvers<void>();
  #stream: Readable | null = null;
  #busboy: BusboyInstance | null = null;
  #delimiters: DelimiterValidator | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failure: Failure | null = null;
  #ended = false;
  #bytes = 0;
  #bytesAtTick = 0;
  #wasPaused = false;

  constructor(request: IncomingMessage, response: ServerResponse, limits: UploadLimits) {
    this.#request = request;
    this.#limits = limits;
    // Prevent unhandled rejections.
    this.#file.promise.catch(ignore);
    this.#completed.promise.catch(ignore);
    try {
      this.#start(response);
    } catch {
      // The content type is not multipart/form-data or has no valid boundary.
      this.#end(new Failure('MALFORMED_MULTIPART'));
    }
  }

  get file(): Promise<Upload> {
    return this.#file.promise;
  }

  #start(response: ServerResponse): void {
    const { headers } = this.#request;
    if (!/^multipart\/form-data *;/i.test(headers['content-type'] ?? '')) {
      throw new Error('content-type is not multipart/form-data');
    }
    if (Number(headers['content-length'] ?? 0) > this.#bodyMaxBytes) {
      this.#end(this.#tooLarge());
      return;
    }
    const type = new MIMEType(headers['content-type'] ?? '');
    this.#delimiters = new DelimiterValidator(type.params.get('boundary') ?? '');
    // Normalize the type, so that busboy and the validator use the same boundary.
    this.#busboy = this.#parser({ ...headers, 'content-type': String(type) });
    exemptFromTimeout(this.#request);
    if (headers.expect !== undefined) response.writeContinue();
    this.#attach(response);
    const startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(startedAt), this.#limits.progressMs);
  }

  get #bodyMaxBytes(): number {
    return this.#limits.fileMaxBytes + this.#limits.overheadMaxBytes;
  }

  #tooLarge(): Failure {
    return new Failure('FILE_TOO_LARGE', { facts: { fileMaxBytes: this.#limits.fileMaxBytes } });
  }

  #parser(headers: BusboyHeaders): BusboyInstance {
    const { fileMaxBytes, partsMax, partHeadersMax, partHeadersMaxBytes } = this.#limits;
    const busboy = new Busboy({
      headers,
      isPartAFile: (name) => name === FILE_PART,
      limits: {
        fileSize: fileMaxBytes,
        files: 1,
        parts: partsMax,
        fieldSize: FIELD_MAX_BYTES,
        headerPairs: partHeadersMax,
        headerSize: partHeadersMaxBytes,
      },
    });
    const malformed = (): void => this.#end(new Failure('MALFORMED_MULTIPART'));
    busboy.on('file', (_name, stream, name, _encoding, type) => this.#onFile(stream, name, type));
    busboy.on('error', malformed).on('partsLimit', malformed).on('filesLimit', malformed);
    busboy.on('finish', () => this.#finish());
    return busboy;
  }

  #attach(response: ServerResponse): void {
    this.#request.on('data', this.#onData).on('end', this.#onEnd);
    // A close before the end of the body means that the client disconnected; a later close has no effect.
    response.on('close', () => this.#end(new Failure('CLIENT_GONE')));
    this.#request.on('error', ignore);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bodyMaxBytes) {
      this.#end(this.#tooLarge());
      return;
    }
    if (this.#delimiters?.accepts(chunk) === false) {
      this.#end(new Failure('MALFORMED_MULTIPART'));
      return;
    }
    const hasCapacity = this.#feed((busboy) => busboy.write(chunk));
    if (hasCapacity || this.#ended) return;
    this.#wasPaused = true;
    this.#request.pause();
    this.#busboy?.once('drain', () => {
      if (!this.#ended) this.#request.resume();
    });
  };

  /** Busboy may throw on malformed input. */
  #feed(work: (busboy: BusboyInstance) => boolean): boolean {
    try {
      return this.#busboy === null || work(this.#busboy);
    } catch {
      this.#end(new Failure('MALFORMED_MULTIPART'));
      return true;
    }
  }

  readonly #onEnd = (): void => {
    this.#feed((busboy) => {
      busboy.end();
      return true;
    });
  };

  #onFile(stream: BusboyFileStream, name: string | undefined, type: string): void {
    stream.on('error', ignore);
    stream.on('limit', () => this.#end(this.#tooLarge()));
    this.#stream = stream;
    this.#file.resolve({
      name: name ? name.slice(0, NAME_MAX) : null,
      type: type.slice(0, NAME_MAX),
      bytes: { [Symbol.asyncIterator]: () => this.#chunks(stream) },
    });
  }

  /** Not a generator, because calling `return` on a generator that was never started runs no code. */
  #chunks(stream: Readable): AsyncIterator<Uint8Array> {
    const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          const next = await chunks.next();
          if (next.done !== true) return next;
          await this.#completed.promise;
          return next;
        } catch {
          throw this.#failure ?? new Failure('MALFORMED_MULTIPART');
        }
      },
      return: async () => {
        this.#end(new Failure('CLIENT_GONE'));
        return { done: true, value: undefined };
      },
    };
  }

  #finish(): void {
    if (this.#stream === null) {
      this.#end(new InvalidFields([{ field: FILE_PART, message: 'is missing: send the file as this part' }]));
    } else {
      this.#end(null);
    }
  }

  /** Ends an upload that is too slow or takes too long. After backpressure, an upload gets one more interval. */
  #tick(startedAt: number): void {
    const { progressMinBytes, uploadMaxMs } = this.#limits;
    const isSlow = !this.#wasPaused && this.#bytes - this.#bytesAtTick < progressMinBytes;
    const isLong = performance.now() - startedAt >= uploadMaxMs;
    if (isSlow || isLong) this.#end(new Failure('REQUEST_TIMEOUT'));
    this.#bytesAtTick = this.#bytes;
    this.#wasPaused = this.#request.isPaused();
  }

  #end(failure: Failure | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#request.off('data', this.#onData).off('end', this.#onEnd);
    if (failure === null) {
      this.#completed.resolve();
      return;
    }
    // The code that rejects the request drops the rest of the body.
    this.#request.pause();
    this.#file.reject(failure);
    this.#completed.reject(failure);
    this.#stream?.destroy(failure);
  }
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** A boundary must be followed by a line end or, after the last part, by two dashes. */
const isValidSuffix = (first: number, second: number): boolean =>
  first === DASH ? second === DASH : first === CR && second === LF;

/**
 * Rejects delimiter lines that busboy misreads. Busboy accepts any line that starts like a delimiter, mistakes padding
 * for a header, and handles a single dash after a delimiter differently depending on where chunks end.
 * Source: RFC 2046 §5.1.1, `delimiter` and `close-delimiter`, without padding.
 */
export class DelimiterValidator {
  readonly #delimiter: Buffer;
  #tail: Buffer = Buffer.from('\r\n');
  #isPastClose = false;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  accepts(piece: Buffer): boolean {
    const span = this.#delimiter.length + 2;
    const seam = Buffer.concat([this.#tail, piece.subarray(0, span - 1)]);
    const end = piece.length < span ? seam : piece;
    const isValid = this.#isValidIn(seam) && (end === seam || this.#isValidIn(piece));
    this.#tail = Buffer.from(end.subarray(-(span - 1)));
    return isValid;
  }

  /** A delimiter at the very end is checked together with the next piece. */
  #isValidIn(bytes: Buffer): boolean {
    const { length } = this.#delimiter;
    let at = bytes.indexOf(this.#delimiter);
    while (at >= 0 && !this.#isPastClose && at + length + 1 < bytes.length) {
      const first = bytes[at + length] ?? 0;
      if (!isValidSuffix(first, bytes[at + length + 1] ?? 0)) return false;
      this.#isPastClose = first === DASH;
      at = bytes.indexOf(this.#delimiter, at + length);
    }
    return true;
  }
}
