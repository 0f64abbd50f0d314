/** Source: spec, "What the service does". */
export const products = {
  rpc: { prefix: 'svc_rpc_live_', name: 'RPC', title: 'RPC, WebSocket and REST' },
  grpc: { prefix: 'svc_grpc_live_', name: 'gRPC', title: 'gRPC (Yellowstone)' },
  fs: { prefix: 'svc_fs_live_', name: 'Shreds', title: 'Shred-stage stream' },
} as const;

export type Product = keyof typeof products;
