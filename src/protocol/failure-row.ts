/** Responsible party; dashboards and alerts group by it. */
export type Owner = 'client' | 'gateway' | 'capacity' | 'upstream';

export type FailureRow = Readonly<{
  owner: Owner;
  /** HTTP status. JSON-RPC's own errors use 200, as Agave does. */
  http: number;
  rpc: number;
  grpc: number;
  /** WebSocket close code if the failure ends the connection. */
  close: number;
  /** Message for clients; `{name}` is replaced by that fact. Never a caught message. */
  text: string;
  /** Message for gRPC clients, if different. */
  grpcText?: string;
  /** Message for REST clients, if different. */
  restText?: string;
  /** Seconds, for transient failures. */
  retryAfter?: number;
  /** Counted as a limit rejection instead of by owner. */
  limits?: true;
  /** REST only. */
  rest?: true;
  /** The JSON-RPC response omits `jsonrpc`, as Agave's does. */
  versionless?: true;
}>;
