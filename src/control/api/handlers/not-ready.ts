import { ApiError } from '../api-error.ts';
import type { ContractName } from '../contract/contract.ts';
import type { Handlers } from '../handler.ts';

/** Handlers of routes that nothing stands behind yet. */
export function notReady<Name extends ContractName>(names: readonly Name[]): Handlers<Name> {
  const refuse = async (): Promise<never> => {
    throw new ApiError(503, 'NOT_READY', 'this is not served yet');
  };
  return Object.fromEntries(names.map((name) => [name, refuse])) as unknown as Handlers<Name>;
}
