import { ApiProblem } from '../../api.ts';

/** As the service has it: accountLimits of src/control/accounts/account-options.ts. It decides; this only helps. */
const PASSWORD_MIN = 10;

/** What a new password must be, said beside its field. */
export const passwordRule = `At least ${PASSWORD_MIN} characters.`;

/** @throws ApiProblem that names the field, as the service would: the page has words for it, the browser a bubble. */
export function checkPassword(password: string, field: 'password' | 'newPassword'): void {
  if (password.length >= PASSWORD_MIN) return;
  const text = `Use at least ${PASSWORD_MIN} characters (currently ${password.length}).`;
  throw new ApiProblem(422, 'INVALID', 'Password too short.', { [field]: text });
}
