/** Source: spec, "What the service does". */
export const products = {
  rpc: { prefix: 'svc_rpc_live_', name: 'RPC', keyName: 'RPC key', title: 'RPC, WebSocket and REST' },
  grpc: { prefix: 'svc_grpc_live_', name: 'gRPC', keyName: 'gRPC key', title: 'gRPC (Yellowstone)' },
  fs: { prefix: 'svc_fs_live_', name: 'Shreds', keyName: 'shred stream key', title: 'Shred-stage stream' },
} as const;

export type Product = keyof typeof products;
