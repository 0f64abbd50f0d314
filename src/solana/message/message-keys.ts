import type { Address } from '../address.ts';
import { programs, reservedKeys } from '../programs.ts';
import type { LoadedAddresses, Message } from './message.ts';

export const NO_LOADED_ADDRESSES: LoadedAddresses = { writable: [], readonly: [] };

export function allKeys(message: Message, loaded: LoadedAddresses = NO_LOADED_ADDRESSES): Address[] {
  return [...message.accountKeys, ...loaded.writable, ...loaded.readonly];
}

export function isSigner(message: Message, index: number): boolean {
  return index < message.header.numRequiredSignatures;
}

/** True if the message requests write access; the runtime may still demote the account to read-only. */
function isRequestedWritable(message: Message, index: number, loaded: LoadedAddresses): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const staticCount = message.accountKeys.length;
  if (index >= staticCount) return index - staticCount < loaded.writable.length;
  if (index < numRequiredSignatures) return index < numRequiredSignatures - numReadonlySignedAccounts;
  return index < staticCount - numReadonlyUnsignedAccounts;
}

function keyAt(message: Message, index: number, loaded: LoadedAddresses): Address | undefined {
  const staticCount = message.accountKeys.length;
  if (index < staticCount) return message.accountKeys[index];
  const dynamic = index - staticCount;
  return dynamic < loaded.writable.length
    ? loaded.writable[dynamic]
    : loaded.readonly[dynamic - loaded.writable.length];
}

function isUpgradeableLoaderPresent(message: Message, loaded: LoadedAddresses): boolean {
  const loader = programs.bpfUpgradeableLoader;
  return (
    message.accountKeys.includes(loader) ||
    loaded.writable.includes(loader) ||
    loaded.readonly.includes(loader)
  );
}

export function isProgram(message: Message, index: number): boolean {
  return message.instructions.some(({ programIdIndex }) => programIdIndex === index);
}

/**
 * True if the account is requested as writable and not reserved. An invoked program is writable only if the upgradeable
 * loader is among the keys. Source: solana-message, `is_maybe_writable` and `LoadedMessage::is_writable`.
 */
export function isWritable(
  message: Message,
  index: number,
  loaded: LoadedAddresses = NO_LOADED_ADDRESSES,
): boolean {
  if (!isRequestedWritable(message, index, loaded)) return false;
  const key = keyAt(message, index, loaded);
  if (key === undefined || reservedKeys.has(key)) return false;
  return !isProgram(message, index) || isUpgradeableLoaderPresent(message, loaded);
}
