import { programs } from '../../../src/solana/programs.ts';
import { rowsOf } from './row.ts';

/** Source: spl-token-2022-interface, the extensions that encrypt amounts, and permissioned burns. */
export const confidentialRows = rowsOf(
  'spl-token',
  programs.token2022,
  `
  initializeConfidentialTransferMint | 27 0 @9 1 32*5 | 1 | mint=@1 authority=@9 autoApproveNewAccounts=true
    auditorElGamalPubkey=32*5;
  initializeConfidentialTransferMint | 27 0 32*0 0 32*0 | 1 | mint=@1 autoApproveNewAccounts=false
    auditorElGamalPubkey=null;
  updateConfidentialTransferMint | 27 1 1 32*0 | 2 | mint=@1 confidentialTransferMintAuthority=@2
    autoApproveNewAccounts=true auditorElGamalPubkey=null;
  configureConfidentialTransferAccount | 27 2 36*6 65536:64 0 | 4 | account=@1 mint=@2
    proofContextStateAccount=@3 owner=@4 decryptableZeroBalance=36*6 maximumPendingBalanceCreditCounter=65536
    proofInstructionOffset=0;
  configureConfidentialTransferAccount | 27 2 36*6 1:64 255 | 5 /4 | account=@1 mint=@2 instructionsSysvar=@3
    multisigOwner=@4 signers=[@5] decryptableZeroBalance=36*6 maximumPendingBalanceCreditCounter=1
    proofInstructionOffset=-1;
  approveConfidentialTransferAccount | 27 3 | 3 | account=@1 mint=@2 confidentialTransferAuditorAuthority=@3;
  emptyConfidentialTransferAccount | 27 4 1 | 3 | account=@1 instructionsSysvar=@2 owner=@3
    proofInstructionOffset=1;
  depositConfidentialTransfer | 27 5 42:64 2 | 3 | account=@1 mint=@2 owner=@3 amount=42 decimals=2;
  withdrawConfidentialTransfer | 27 6 42:64 2 36*6 1 0 | 5 /4 | account=@1 mint=@2 instructionsSysvar=@3
    rangeProofContextStateAccount=@4 owner=@5 amount=42 decimals=2 newDecryptableAvailableBalance=36*6
    equalityProofInstructionOffset=1 rangeProofInstructionOffset=0;
  confidentialTransfer | 27 7 36*6 128*7 0 0 0 | 8 /4 | source=@1 mint=@2 destination=@3
    equalityProofContextStateAccount=@4 ciphertextValidityProofContextStateAccount=@5
    rangeProofContextStateAccount=@6 multisigOwner=@7 signers=[@8] newSourceDecryptableAvailableBalance=36*6
    equalityProofInstructionOffset=0 ciphertextValidityProofInstructionOffset=0 rangeProofInstructionOffset=0;
  confidentialTransfer | 27 7 36*6 128*7 1 2 3 | 5 /4 | source=@1 mint=@2 destination=@3 instructionsSysvar=@4
    owner=@5 newSourceDecryptableAvailableBalance=36*6 equalityProofInstructionOffset=1
    ciphertextValidityProofInstructionOffset=2 rangeProofInstructionOffset=3;
  confidentialTransfer | 27 7 36*6 128*7 0 0 0 | 5 /4 | source=@1 mint=@2 destination=@3
    equalityProofContextStateAccount=@4 owner=@5 newSourceDecryptableAvailableBalance=36*6
    equalityProofInstructionOffset=0 ciphertextValidityProofInstructionOffset=0 rangeProofInstructionOffset=0;
  applyPendingConfidentialTransferBalance | 27 8 7:64 36*6 | 2 | account=@1 owner=@2
    expectedPendingBalanceCreditCounter=7 newDecryptableAvailableBalance=36*6;
  enableConfidentialTransferConfidentialCredits | 27 9 | 2 | account=@1 owner=@2;
  disableConfidentialTransferConfidentialCredits | 27 10 | 2 | account=@1 owner=@2;
  enableConfidentialTransferNonConfidentialCredits | 27 11 | 2 | account=@1 owner=@2;
  disableConfidentialTransferNonConfidentialCredits | 27 12 | 2 | account=@1 owner=@2;
  confidentialTransferWithFee | 27 13 36*6 128*7 1 0 2 0 3 | 7 /4 | source=@1 mint=@2 destination=@3
    instructionsSysvar=@4 transferAmountCiphertextValidityProofContextStateAccount=@5
    feeCiphertextValidityProofContextStateAccount=@6 owner=@7 newSourceDecryptableAvailableBalance=36*6
    equalityProofInstructionOffset=1 transferAmountCiphertextValidityProofInstructionOffset=0
    feeSigmaProofInstructionOffset=2 feeCiphertextValidityProofInstructionOffset=0
    rangeProofInstructionOffset=3;
  configureConfidentialAccountWithRegistry | 27 14 | 3 | account=@1 mint=@2 registry=@3;
  initializeConfidentialTransferFeeConfig | 37 0 @9 32*0 | 1 | mint=@1 authority=@9
    withdrawWithheldAuthorityElGamalPubkey=32*0;
  withdrawWithheldConfidentialTransferTokensFromMint | 37 1 0 36*6 | 4 | mint=@1 feeRecipient=@2
    proofContextStateAccount=@3 withdrawWithheldAuthority=@4 proofInstructionOffset=0
    newDecryptableAvailableBalance=36*6;
  withdrawWithheldConfidentialTransferTokensFromAccounts | 37 2 2 1 36*6 | 7 /6 | mint=@1 feeRecipient=@2
    instructionsSysvar=@3 multisigWithdrawWithheldAuthority=@4 signers=[@5] sourceAccounts=[@6,@7]
    proofInstructionOffset=1 newDecryptableAvailableBalance=36*6;
  harvestWithheldConfidentialTransferTokensToMint | 37 3 | 2 /1 | mint=@1 sourceAccounts=[@2];
  enableConfidentialTransferFeeHarvestToMint | 37 4 | 2 | account=@1 owner=@2;
  disableConfidentialTransferFeeHarvestToMint | 37 5 | 2 | account=@1 owner=@2;
  initializeConfidentialMintBurnMint | 42 0 32*5 36*6 | 1 | mint=@1 supplyElGamalPubkey=32*5
    decryptableSupply=36*6;
  rotateConfidentialMintBurnSupplyElGamalPubkey | 42 1 32*5 0 | 3 | mint=@1 proofContextStateAccount=@2
    owner=@3 newSupplyElGamalPubkey=32*5 proofInstructionOffset=0;
  updateConfidentialMintBurnDecryptableSupply | 42 2 36*6 | 2 | mint=@1 owner=@2 newDecryptableSupply=36*6;
  confidentialMint | 42 3 36*6 128*7 0 1 0 | 6 /3 | destination=@1 mint=@2 instructionsSysvar=@3
    equalityProofContextStateAccount=@4 rangeProofContextStateAccount=@5 owner=@6 newDecryptableSupply=36*6
    equalityProofInstructionOffset=0 ciphertextValidityProofInstructionOffset=1 rangeProofInstructionOffset=0;
  confidentialBurn | 42 4 36*6 128*7 0 1 0 | 3 | destination=@1 mint=@2 owner=@3
    newDecryptableAvailableBalance=36*6 equalityProofInstructionOffset=0
    ciphertextValidityProofInstructionOffset=1 rangeProofInstructionOffset=0;
  applyPendingBurn | 42 5 | 2 | mint=@1 owner=@2;
  initializePermissionedBurnConfig | 46 0 @9 | 1 | mint=@1 authority=@9;
  permissionedBurn | 46 1 42:64 | 4 | account=@1 mint=@2 permissionedBurnAuthority=@3 authority=@4
    amount="42";
  permissionedBurnChecked | 46 2 42:64 2 | 5 /4 | account=@1 mint=@2 permissionedBurnAuthority=@3
    multisigAuthority=@4 signers=[@5] tokenAmount=ui(42,2);
  permissionedConfidentialBurn | 46 3 36*6 128*7 0 1 0 | 7 /4 | account=@1 mint=@2 instructionsSysvar=@3
    equalityProofContextStateAccount=@4 rangeProofContextStateAccount=@5 permissionedBurnAuthority=@6
    authority=@7 newDecryptableAvailableBalance=36*6 equalityProofInstructionOffset=0
    ciphertextValidityProofInstructionOffset=1 rangeProofInstructionOffset=0;
  permissionedConfidentialBurn | 46 3 36*6 128*7 0 1 0 | 4 | account=@1 mint=@2 permissionedBurnAuthority=@3
    authority=@4 newDecryptableAvailableBalance=36*6 equalityProofInstructionOffset=0
    ciphertextValidityProofInstructionOffset=1 rangeProofInstructionOffset=0;
`,
);
