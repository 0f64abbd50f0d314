import { fieldProblem } from '../../api.ts';

/** Mirrors accountLimits of src/control/accounts/account-options.ts; the service decides. */
const PASSWORD_MIN = 10;

export const passwordRule = `At least ${PASSWORD_MIN} characters.`;

/** @throws ApiProblem naming the field, to show it inline instead of in a browser popup. */
export function checkPassword(password: string, field: 'password' | 'newPassword'): void {
  if (password.length >= PASSWORD_MIN) return;
  throw fieldProblem(field, `Use at least ${PASSWORD_MIN} characters (currently ${password.length}).`);
}
