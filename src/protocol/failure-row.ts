/** Whose doing a failure is: what dashboards and alerts are grouped by. */
export type Owner = 'client' | 'gateway' | 'capacity' | 'upstream';

export type FailureRow = Readonly<{
  owner: Owner;
  /** HTTP status of the answer. JSON-RPC's own errors travel with 200, as Agave sends them. */
  http: number;
  /** JSON-RPC `error.code`. */
  rpc: number;
  /** gRPC status code. */
  grpc: number;
  /** WebSocket close code, when the failure ends the connection. */
  close: number;
  /** What the client reads; `{name}` stands for the fact of that name. Never made from a caught message. */
  text: string;
  /** What a gRPC client reads, where `text` speaks of another wire. */
  grpcText?: string;
  /** What a REST client reads, where it may do more than `text` says. */
  restText?: string;
  /** Seconds after which a retry makes sense, where the failure passes by itself. */
  retryAfter?: number;
  /** Counted as refused by a limit, and not by its owner. */
  limits?: true;
  /** Only the REST interface gives it. */
  rest?: true;
  /** The JSON-RPC answer lacks `jsonrpc`, as Agave's does. */
  versionless?: true;
}>;
