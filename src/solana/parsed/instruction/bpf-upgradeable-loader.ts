import { readBase64 } from '../bincode.ts';
import { type Variant, variant } from './variant.ts';

/**
 * By u32 discriminant. Absent optional accounts are null. Source: transaction-status/src/parse_bpf_loader.rs
 */
export const bpfUpgradeableLoaderVariants: readonly Variant[] = [
  variant('initializeBuffer', ['account', 'authority?']),
  variant('write', ['account', 'authority'], (data) => ({ offset: data.u32(), bytes: readBase64(data) })),
  variant(
    'deployWithMaxDataLen',
    [
      'payerAccount',
      'programDataAccount',
      'programAccount',
      'bufferAccount',
      'rentSysvar',
      'clockSysvar',
      'systemProgram',
      'authority',
    ],
    (data) => ({ maxDataLen: data.u64() }),
  ),
  variant('upgrade', [
    'programDataAccount',
    'programAccount',
    'bufferAccount',
    'spillAccount',
    'rentSysvar',
    'clockSysvar',
    'authority',
  ]),
  variant('setAuthority', ['account', 'authority'], (_, given) => ({ newAuthority: given[2] ?? null })),
  variant('close', ['account', 'recipient', 'authority'], (_, given) => ({
    programAccount: given[3] ?? null,
  })),
  variant('extendProgram', ['programDataAccount', 'programAccount'], (data, given) => ({
    additionalBytes: data.u32(),
    systemProgram: given[2] ?? null,
    payerAccount: given[3] ?? null,
  })),
  variant('setAuthorityChecked', ['account', 'authority', 'newAuthority']),
  variant('migrate', ['programDataAccount', 'programAccount', 'authority']),
  variant('extendProgramChecked', ['programDataAccount', 'programAccount', 'authority'], (data, given) => ({
    additionalBytes: data.u32(),
    systemProgram: given[3] ?? null,
    payerAccount: given[4] ?? null,
  })),
];
