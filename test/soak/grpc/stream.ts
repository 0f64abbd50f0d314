import { geyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';

/** Timeouts for clients on a loaded machine. */
const limits = { ...geyserSourceOptions, connectTimeoutMs: 60_000, pongTimeoutMs: 60_000 };

export type StreamOptions = Readonly<{
  /** URL of the gRPC server. */
  url: string;
  /** Not needed for a direct connection to a ledger. */
  key?: string;
  /** Default: `Subscribe`. */
  method?: string;
  windowBytes?: number;
}>;

/** Opens a gRPC stream with one request. @param onEnd - receives why it ended. */
export function openStream(
  { key, method = '/geyser.Geyser/Subscribe', ...options }: StreamOptions,
  request: Uint8Array,
  onMessage: (bytes: Buffer) => void,
  onEnd: (why: string) => void,
): GrpcStream {
  const headers: Record<string, string> = key === undefined ? {} : { 'x-token': key };
  const stream = new GrpcStream(
    { ...limits, ...options, headers, method },
    { onOpen: () => {}, onMessage, onEnd: ({ code, message }) => onEnd(`${code} ${message}`) },
  );
  stream.send(request);
  return stream;
}
