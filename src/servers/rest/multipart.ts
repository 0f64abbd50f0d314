import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { Upload } from '../../protocol/rest/route.ts';
import { exemptFromTimeout } from '../http/timeout-exemption.ts';
import { DelimiterValidator } from './delimiter-validator.ts';

/** What bounds a body with a file. */
export type UploadLimits = Readonly<{
  /** Bytes of the file. */
  fileMaxBytes: number;
  /** Bytes of the body beside the file: boundaries, heads of parts, other fields. */
  besideMaxBytes: number;
  /** Parts of the body, the file among them. */
  partsMax: number;
  /** Header fields of one part. */
  partHeadersMax: number;
  /** Bytes of the header fields of one part. */
  partHeadersMaxBytes: number;
  /**
   * A client that sends fewer than `progressLeastBytes` in this time, while nothing else than the client is waited
   * for, is given up. A large file on a slow line may so take longer than other requests may.
   */
  progressMs: number;
  progressLeastBytes: number;
  /** Time for the whole body, however well it comes on. */
  uploadMaxMs: number;
}>;

/** What holds unless something else is set. */
export const uploadLimits: UploadLimits = {
  fileMaxBytes: 100 * 1024 * 1024,
  besideMaxBytes: 1024 * 1024,
  partsMax: 100,
  partHeadersMax: 32,
  partHeadersMaxBytes: 8 * 1024,
  progressMs: 30_000,
  progressLeastBytes: 64 * 1024,
  uploadMaxMs: 30 * 60_000,
};

/** The name of the part that is the file. Source: rest-api.md §2.21. */
const FILE_PART = 'file';

/** Characters of a file's name and type that are kept. */
const NAME_MAX = 255;

/** Of other fields nothing is kept. */
const FIELD_MAX_BYTES = 1;

const ignore = (): void => {};

/**
 * The part `file` of a multipart/form-data body, as soon as its head is there; its bytes come as they are read. The
 * part may have a file name or, as clients send buffers, none.
 *
 * @returns the file. Its `bytes` throw a Failure: FILE_TOO_LARGE, MALFORMED_MULTIPART, REQUEST_TIMEOUT, CLIENT_GONE.
 * They end when the whole body was read and is well formed. Whoever breaks off reading stops the upload.
 * @throws Failure, one of those, when it is known before the file begins; InvalidFields when there is no part `file`.
 */
export function readUpload(
  request: IncomingMessage,
  response: ServerResponse,
  limits: Partial<UploadLimits> = {},
): Promise<Upload> {
  return new UploadReader(request, response, { ...uploadLimits, ...limits }).file;
}

/** Carries a body from its request through busboy to whoever reads the file, and no faster than that. */
class UploadReader {
  readonly #request: IncomingMessage;
  readonly #limits: UploadLimits;
  readonly #file = Promise.withResolvers<Upload>();
  /** Resolved when the body was read to its end and nothing is wrong with it. */
  readonly #completed = Promise.withResolvers<void>();
  #stream: Readable | null = null;
  #busboy: BusboyInstance | null = null;
  #delimiters: DelimiterValidator | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failure: Failure | null = null;
  #ended = false;
  #bytes = 0;
  #bytesAtTick = 0;
  /** Whether the client was held up since the last tick. */
  #wasPaused = false;

  constructor(request: IncomingMessage, response: ServerResponse, limits: UploadLimits) {
    this.#request = request;
    this.#limits = limits;
    // Whoever does not wait for them learns of it otherwise.
    this.#file.promise.catch(ignore);
    this.#completed.promise.catch(ignore);
    try {
      this.#start(response);
    } catch {
      // Busboy's: no multipart/form-data, no boundary, or one that cannot be.
      this.#end(new Failure('MALFORMED_MULTIPART'));
    }
  }

  get file(): Promise<Upload> {
    return this.#file.promise;
  }

  #start(response: ServerResponse): void {
    const { headers } = this.#request;
    if (!/^multipart\/form-data *;/i.test(headers['content-type'] ?? '')) {
      throw new Error('the body is none with parts');
    }
    if (Number(headers['content-length'] ?? 0) > this.#bodyMaxBytes) {
      this.#end(this.#tooLarge());
      return;
    }
    const type = new MIMEType(headers['content-type'] ?? '');
    this.#delimiters = new DelimiterValidator(type.params.get('boundary') ?? '');
    // As it was understood here: both are to look for the same boundary.
    this.#busboy = this.#parser({ ...headers, 'content-type': String(type) });
    exemptFromTimeout(this.#request);
    if (headers.expect !== undefined) response.writeContinue();
    this.#attach(response);
    const startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(startedAt), this.#limits.progressMs);
  }

  get #bodyMaxBytes(): number {
    return this.#limits.fileMaxBytes + this.#limits.besideMaxBytes;
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
    // Before the body was whole: the client has left. Behind it, all is over anyway.
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

  /** A parser that fails on what anybody may send fails here, and nowhere else. */
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

  /** An object rather than a generator: the end of one that was never asked for anything would go unheard. */
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

  /** Both the parts and the request have come to their ends. */
  #finish(): void {
    if (this.#stream === null) {
      this.#end(new InvalidFields([{ field: FILE_PART, message: 'is missing: send the file as this part' }]));
    } else {
      this.#end(null);
    }
  }

  /** Ends a body that does not come on. One that was held up here in between is given time until the next tick. */
  #tick(startedAt: number): void {
    const { progressLeastBytes, uploadMaxMs } = this.#limits;
    const isSlow = !this.#wasPaused && this.#bytes - this.#bytesAtTick < progressLeastBytes;
    const isLong = performance.now() - startedAt >= uploadMaxMs;
    if (isSlow || isLong) this.#end(new Failure('REQUEST_TIMEOUT'));
    this.#bytesAtTick = this.#bytes;
    this.#wasPaused = this.#request.isPaused();
  }

  /** @param failure - null when the body was whole and well formed. */
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
    // What is still to come is for whoever refuses the request.
    this.#request.pause();
    this.#file.reject(failure);
    this.#completed.reject(failure);
    this.#stream?.destroy(failure);
  }
}
