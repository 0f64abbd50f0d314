import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { readAddress } from '../bincode.ts';
import { authorized } from './authorized.ts';
import { byU8, exactly } from './extension-data.ts';
import { confidentialBurn, MINT_BURN_PROOFS } from './token-confidential-mint-burn.ts';
import { proven } from './token-proofs.ts';
import { variant } from './variant.ts';

const burnt = ['account', 'mint', 'permissionedBurnAuthority'];

/** Source: transaction-status/src/parse_token/extension/permissioned_burn.rs */
export const permissionedBurn = byU8([
  variant(
    'initializePermissionedBurnConfig',
    ['mint'],
    exactly((data) => ({ authority: readAddress(data) })),
  ),
  authorized(
    'permissionedBurn',
    burnt,
    'authority',
    exactly((data) => ({ amount: String(data.u64()) })),
  ),
  authorized(
    'permissionedBurnChecked',
    burnt,
    'authority',
    exactly((data) => ({ tokenAmount: uiTokenAmount(data.u64(), data.u8()) })),
  ),
  proven('permissionedConfidentialBurn', {
    accounts: ['account', 'mint'],
    reserved: ['permissionedBurnAuthority'],
    authority: 'authority',
    minimum: 4,
    read: confidentialBurn,
    proofs: MINT_BURN_PROOFS,
  }),
]);
