import type { accountRoutes } from '../contract/accounts.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { auditHandlers } from './audit.ts';
import { customerHandlers } from './customers.ts';
import { invitationHandlers } from './invitations.ts';
import { meHandlers } from './me.ts';
import { memberHandlers } from './members.ts';
import { tokenHandlers } from './tokens.ts';

type Names = Exclude<keyof typeof accountRoutes, `${string}/notices${string}`>;

export const accountHandlers = (services: ApiServices) =>
  ({
    ...meHandlers(services),
    ...customerHandlers(services),
    ...memberHandlers(services),
    ...invitationHandlers(services),
    ...tokenHandlers(services),
    ...auditHandlers(services),
  }) satisfies Handlers<Names>;
