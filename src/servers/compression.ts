import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { bufferPool } from '../http/buffer-pool.ts';
import type { ClientInfo } from '../protocol/client-info.ts';
import { Failure } from '../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../protocol/streamed-response.ts';

export const compressionOptions = {
  /** 0: no compression. */
  compressionMinBytes: 16 * 1024,
  /** Each holds up to 1 MiB of codec state. Responses beyond it are sent uncompressed. */
  compressionsMax: 16,
};

/** Share of `compressionsMax` for one client, so that it cannot take all. */
const CLIENT_SHARE = 1 / 4;

type CompressionOptions = Readonly<typeof compressionOptions>;

/** In order of preference: zstd costs about a third of gzip. Both use the fastest level. */
const codecs = {
  zstd: () =>
    createZstdCompress({ chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: () => createGzip({ chunkSize: CHUNK_BYTES, level: 1 }),
};
const codings = Object.keys(codecs) as readonly ContentCoding[];

export type ContentCoding = keyof typeof codecs;

const CHUNK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);
const ZERO_QUALITY = /^q=0(?:\.0{0,3})?$/;

/** Lower-case codings of an Accept-Encoding header without those that it excludes. Source: RFC 9110 §12.5.3. */
export function acceptedCodings(header: string): ReadonlySet<string> {
  const accepted = header.split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return parameters.some((text) => ZERO_QUALITY.test(text)) ? [] : [name];
  });
  return new Set(accepted);
}

export const codingHeaders = (coding: ContentCoding): Readonly<Record<string, string>> => ({
  'content-encoding': coding,
  vary: 'accept-encoding',
});

/** Compresses response bodies in the threads of libuv, for clients that accept it. */
export class ResponseCompression {
  readonly #options: CompressionOptions;
  #open = 0;
  /** Open compressions by client subnet. */
  readonly #openByClient = new Map<string, number>();
  #lastHeader = '';
  #lastCoding: ContentCoding | null = null;

  constructor(options: CompressionOptions) {
    this.#options = options;
  }

  /** @param accepted - Accept-Encoding header. @returns null if the body must be sent uncompressed. */
  compress(
    accepted: string | undefined,
    client: ClientInfo,
    pieces: readonly Buffer[],
  ): CompressedResponse | null {
    if (accepted === undefined || accepted === '') return null;
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    const response = this.#start(accepted, client, bytes);
    if (response !== null) for (const chunk of joinShort(pieces)) response.write(chunk);
    response?.end();
    return response;
  }

  /** @returns null if the body, which is the prefix, the result and the suffix, must be sent uncompressed. */
  compressStream(
    accepted: string | undefined,
    client: ClientInfo,
    source: StreamedResponse,
    prefix: Buffer,
    suffix: Buffer,
  ): CompressedResponse | null {
    const response = this.#start(accepted ?? '', client, source.bytes ?? Number.POSITIVE_INFINITY);
    response?.write(prefix);
    response?.append(source, suffix);
    return response;
  }

  #start(accepted: string, client: ClientInfo, bytes: number): CompressedResponse | null {
    const { compressionMinBytes, compressionsMax } = this.#options;
    if (compressionMinBytes === 0 || bytes < compressionMinBytes || this.#open >= compressionsMax)
      return null;
    const key = client.ip?.subnet ?? client.address;
    const own = this.#openByClient.get(key) ?? 0;
    if (!client.isProxy && own >= Math.max(1, compressionsMax * CLIENT_SHARE)) return null;
    const coding = this.#codingFor(accepted);
    if (coding === null) return null;
    this.#open++;
    this.#openByClient.set(key, own + 1);
    return new CompressedResponse(coding, () => this.#release(key));
  }

  #release(key: string): void {
    this.#open--;
    const left = (this.#openByClient.get(key) ?? 1) - 1;
    if (left === 0) this.#openByClient.delete(key);
    else this.#openByClient.set(key, left);
  }

  #codingFor(accepted: string): ContentCoding | null {
    if (accepted === this.#lastHeader) return this.#lastCoding;
    const acceptable = acceptedCodings(accepted);
    this.#lastHeader = accepted;
    this.#lastCoding = codings.find((coding) => acceptable.has(coding)) ?? null;
    return this.#lastCoding;
  }
}

export const noCompression = new ResponseCompression({ ...compressionOptions, compressionMinBytes: 0 });

/** Joins neighboring short pieces, because each write to a codec is a job for another thread. */
function* joinShort(pieces: readonly Buffer[]): Generator<Buffer> {
  let joined: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (joined.length > 0 && bytes + piece.length > CHUNK_BYTES) {
      yield Buffer.concat(joined, bytes);
      joined = [];
      bytes = 0;
    }
    if (piece.length >= CHUNK_BYTES) {
      yield piece;
      continue;
    }
    joined.push(piece);
    bytes += piece.length;
  }
  yield Buffer.concat(joined, bytes);
}

/** The whole response body: writers add neither prefix nor suffix. */
export class CompressedResponse implements StreamedResponse {
  readonly bytes = null;
  readonly coding: ContentCoding;
  readonly #codec: ReturnType<(typeof codecs)[ContentCoding]>;
  #source: StreamedResponse | null = null;
  #suffix: Buffer = EMPTY;
  #onClose: (() => void) | null;

  constructor(coding: ContentCoding, onClose: () => void) {
    this.coding = coding;
    this.#codec = codecs[coding]();
    this.#onClose = onClose;
  }

  /** @returns false if the source should pause. */
  write(piece: Buffer): boolean {
    return this.#codec.write(piece, (error) => {
      // After a failed write, the thread may still read the buffer.
      if (error == null) bufferPool.release(piece);
    });
  }

  end(): void {
    this.#codec.end();
  }

  /** Ends the body with the result of `source` and the suffix. */
  append(source: StreamedResponse, suffix: Buffer): void {
    this.#source = source;
    this.#suffix = suffix;
    this.#codec.on('drain', () => source.resume());
  }

  pipeTo(reader: ResponseReader): void {
    const fail: ResponseReader['onError'] = (failure) => {
      this.#close();
      reader.onError(failure);
    };
    this.#codec.on('data', (bytes: Buffer) => reader.onData(bytes));
    this.#codec.once('error', () => fail(new Failure('INTERNAL')));
    this.#codec.once('end', () => {
      this.#close();
      reader.onEnd(EMPTY);
    });
    this.#source?.pipeTo({
      onData: (bytes) => {
        if (!this.write(bytes)) this.#source?.pause();
      },
      onEnd: (last) => {
        this.write(last);
        this.write(this.#suffix);
        this.end();
      },
      onError: fail,
    });
  }

  pause(): void {
    this.#codec.pause();
  }

  resume(): void {
    this.#codec.resume();
  }

  cancel(): void {
    this.#source?.cancel();
    this.#close();
  }

  #close(): void {
    this.#codec.destroy();
    this.#onClose?.();
    this.#onClose = null;
  }
}
