import type { KeyJson } from '../../src/control/api/contract/keys.ts';

export type Product = KeyJson['product'];

/** Mirrors src/protocol/product.ts. */
export const productNames: Readonly<Record<Product, string>> = {
  rpc: 'RPC',
  grpc: 'gRPC',
  fs: 'Shreds',
};
