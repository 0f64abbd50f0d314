import type { KeyJson } from '../../src/control/api/contract/keys.ts';

export type Product = KeyJson['product'];

export const productNames: Readonly<Record<Product, string>> = {
  rpc: 'RPC',
  grpc: 'gRPC',
  fs: 'Shreds',
};
