import { type Variant, variant } from './variant.ts';

const creation = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];

/**
 * By u8 discriminant; empty data means the first. Source: transaction-status/src/parse_associated_token.rs
 */
export const associatedTokenAccountVariants: readonly Variant[] = [
  variant('create', creation),
  variant('createIdempotent', creation),
  variant('recoverNested', [
    'nestedSource',
    'nestedMint',
    'destination',
    'nestedOwner',
    'ownerMint',
    'wallet',
    'tokenProgram',
  ]),
];
