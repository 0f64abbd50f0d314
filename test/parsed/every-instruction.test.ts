import { describe, expect, it } from 'vitest';
import { programs } from '../../src/solana/programs.ts';
import { confidential } from './rows/confidential.ts';
import {
  addressLookupTable,
  associatedTokenAccount,
  bpfLoader,
  bpfUpgradeableLoader,
} from './rows/others.ts';
import { bytes, keys, parsed, type Rows } from './rows/row.ts';
import { stake } from './rows/stake.ts';
import { system } from './rows/system.ts';
import { token } from './rows/token.ts';
import { token2022 } from './rows/token-2022.ts';
import { voteRows } from './rows/vote.ts';

const everything: readonly Rows[] = [
  addressLookupTable,
  associatedTokenAccount,
  bpfLoader,
  bpfUpgradeableLoader,
  stake,
  system,
  voteRows,
  token,
  token2022,
  confidential,
];

/** Types written by Agave's transaction-status, by program. Memos are bare strings. */
const types: Readonly<Record<string, string>> = {
  'address-lookup-table': `createLookupTable freezeLookupTable extendLookupTable deactivateLookupTable
    closeLookupTable`,
  'spl-associated-token-account': 'create createIdempotent recoverNested',
  'bpf-loader': 'write finalize',
  'bpf-upgradeable-loader': `initializeBuffer write deployWithMaxDataLen upgrade setAuthority setAuthorityChecked
    close extendProgram extendProgramChecked migrate`,
  stake: `initialize authorize delegate split withdraw deactivate setLockup merge authorizeWithSeed
    initializeChecked authorizeChecked authorizeCheckedWithSeed setLockupChecked getMinimumDelegation
    deactivateDelinquent redelegate moveStake moveLamports`,
  system: `createAccount assign transfer createAccountWithSeed advanceNonce withdrawFromNonce initializeNonce
    authorizeNonce allocate allocateWithSeed assignWithSeed transferWithSeed upgradeNonce
    createAccountAllowPrefund`,
  vote: `initialize authorize vote withdraw updateValidatorIdentity updateCommission voteSwitch authorizeChecked
    updatevotestate updatevotestateswitch authorizeWithSeed authorizeCheckedWithSeed compactupdatevotestate
    compactupdatevotestateswitch towersync towersyncswitch initializeV2 updateCommissionCollector
    updateCommissionBps depositDelegatorRewards`,
  'spl-token': `initializeMint initializeMint2 initializeAccount initializeAccount2 initializeAccount3
    initializeMultisig initializeMultisig2 transfer transferChecked approve approveChecked revoke setAuthority
    mintTo mintToChecked burn burnChecked closeAccount freezeAccount thawAccount syncNative getAccountDataSize
    initializeImmutableOwner amountToUiAmount uiAmountToAmount initializeMintCloseAuthority createNativeMint
    initializeNonTransferableMint initializePermanentDelegate reallocate withdrawExcessLamports unwrapLamports
    batch initializeTransferFeeConfig transferCheckedWithFee withdrawWithheldTokensFromMint
    withdrawWithheldTokensFromAccounts harvestWithheldTokensToMint setTransferFee initializeDefaultAccountState
    updateDefaultAccountState enableRequiredMemoTransfers disableRequiredMemoTransfers enableCpiGuard
    disableCpiGuard initializeInterestBearingConfig updateInterestBearingConfigRate initializeTransferHook
    updateTransferHook initializeMetadataPointer updateMetadataPointer initializeGroupPointer updateGroupPointer
    initializeGroupMemberPointer updateGroupMemberPointer initializeScaledUiAmountConfig updateMultiplier
    initializePausableConfig pause resume initializeTokenMetadata updateTokenMetadataField removeTokenMetadataKey
    updateTokenMetadataAuthority emitTokenMetadata initializeTokenGroup updateTokenGroupMaxSize
    updateTokenGroupAuthority initializeTokenGroupMember initializeConfidentialTransferMint
    updateConfidentialTransferMint configureConfidentialTransferAccount approveConfidentialTransferAccount
    emptyConfidentialTransferAccount depositConfidentialTransfer withdrawConfidentialTransfer confidentialTransfer
    confidentialTransferWithFee applyPendingConfidentialTransferBalance
    enableConfidentialTransferConfidentialCredits disableConfidentialTransferConfidentialCredits
    enableConfidentialTransferNonConfidentialCredits disableConfidentialTransferNonConfidentialCredits
    configureConfidentialAccountWithRegistry initializeConfidentialTransferFeeConfig
    withdrawWithheldConfidentialTransferTokensFromMint withdrawWithheldConfidentialTransferTokensFromAccounts
    harvestWithheldConfidentialTransferTokensToMint enableConfidentialTransferFeeHarvestToMint
    disableConfidentialTransferFeeHarvestToMint initializeConfidentialMintBurnMint
    updateConfidentialMintBurnDecryptableSupply rotateConfidentialMintBurnSupplyElGamalPubkey confidentialMint
    confidentialBurn applyPendingBurn initializePermissionedBurnConfig permissionedBurn permissionedBurnChecked
    permissionedConfidentialBurn`,
};

describe('parsed instructions', () => {
  it.each(Object.entries(types))('of %s have a row', (program, names) => {
    const rows = everything.filter((rows) => rows.program === program).flatMap(({ rows }) => rows);
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(names.split(/\s+/)));
  });
});

describe.each(everything)('$program instruction', ({ program, programId, rows }) => {
  it.each(rows)('$type matches its row (%#)', ({ type, data, accounts, info }) => {
    expect(parsed(programId, accounts, data)).toEqual({
      parsed: info === undefined ? { type } : { type, info },
      program,
      programId,
      stackHeight: 1,
    });
  });

  it.each(rows)('$type is unparsed when truncated (%#)', ({ type, data, accounts }) => {
    for (let length = 1; length < data.length; length++) {
      const cut = parsed(programId, accounts, data.subarray(0, length)) as { parsed: object } | null;
      // Trailing text, trailing types and shorter batches are valid at many lengths.
      const mayBeWhole = ['uiAmountToAmount', 'getAccountDataSize', 'reallocate', 'batch'].includes(type);
      if (cut !== null) expect([mayBeWhole, cut.parsed]).toEqual([true, expect.objectContaining({ type })]);
    }
  });

  it.each(rows)('$type requires $minimum accounts (%#)', ({ data, accounts, minimum }) => {
    for (let count = 0; count < accounts.length; count++) {
      expect([count, parsed(programId, accounts.slice(0, count), data) === null]).toEqual([
        count,
        count < minimum,
      ]);
    }
  });
});

describe('memo', () => {
  it.each([programs.memoV1, programs.memoV3, programs.memoV4])('of %s is its text', (programId) => {
    const memo = parsed(programId, [], Buffer.from('🦖'));
    expect(memo).toEqual({ parsed: '🦖', program: 'spl-memo', programId, stackHeight: 1 });
    expect(parsed(programId, [], Uint8Array.of(240, 159))).toBeNull();
  });
});

describe('instruction of an unparsed program', () => {
  const unparsed = [
    'config',
    'computeBudget',
    'loaderV4',
    'zkElGamalProof',
    'ed25519',
    'bpfLoader1',
  ] as const;
  it.each(unparsed)('%s stays unparsed', (name) => {
    expect(parsed(programs[name], keys(8), bytes(0, 0, 0, 0, 0, 0, 0, 0).finish())).toBeNull();
  });
});
