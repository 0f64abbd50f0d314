import type { Logger } from '../base/log.ts';
import { withDefaults } from '../base/with-defaults.ts';
import {
  type AccountLimits,
  type AccountOptions,
  accountLimits,
} from '../control/accounts/account-options.ts';
import type { ApiServices, Mailer } from '../control/api/services.ts';
import type { Store } from '../control/database/open.ts';
import { MailPace } from '../control/notices/mail-pace.ts';
import type { Peppers } from '../control/pepper.ts';
import type { Source } from '../protocol/call.ts';
import type { Configuration } from './configuration.ts';
import { showConfiguration } from './configuration-view.ts';
import { PROGRAM_VERSION } from './program-version.ts';

const DAY_MS = 24 * 3_600_000;

/** Where calls go, without a path. */
export type ReachedAt = Readonly<{
  url: string;
  grpcUrl: string | null;
  hasShredStage: boolean;
  isDevelopment: boolean;
}>;

export type ControlParts = Readonly<{
  configuration: Configuration;
  store: Store;
  peppers: Peppers;
  /** Those of the REST interface; to read them takes as long as all else at the command line, which shows none. */
  endpoints: ApiServices['endpoints'];
  source: Source | null;
  mailer: Mailer | null;
  log: Logger;
  /** What others add: of the request log, of leaks. */
  more?: Partial<ApiServices>;
  /** Asked when it is known: once the doors are open. */
  reachedAt: () => ReachedAt;
}>;

/** The options of accounts that the configuration names; what changes of it while the service runs is read there. */
export function accountOptionsOf({ accounts }: Configuration): AccountOptions {
  const { publicUrl, oidc, sessionDays, accountFreeTries, addressFreeTries } = accounts;
  const limits = withDefaults<AccountLimits>(withDefaults<AccountLimits>(accountLimits, accounts), {
    sessionMs: sessionDays * DAY_MS,
    get invitationMs() {
      return accounts.invitationDays * DAY_MS;
    },
    accountTries: { ...accountLimits.accountTries, freeTries: accountFreeTries },
    addressTries: { ...accountLimits.addressTries, freeTries: addressFreeTries },
  });
  return {
    get signUp() {
      return accounts.signUp;
    },
    publicUrl,
    oidc,
    limits,
  };
}

const modeOf = ({ isDevelopment }: ReachedAt) => (isDevelopment ? 'development' : 'production');

function urlsOf({ url, grpcUrl }: ReachedAt, publicUrl: string | null) {
  const http = publicUrl ?? url;
  return { http, ws: http.replace(/^http/, 'ws'), grpc: grpcUrl };
}

/** What handlers of the control API stand on, in the service and at the command line. */
export function apiServicesOf(parts: ControlParts): ApiServices {
  const { configuration, store, peppers, endpoints, source, mailer, reachedAt } = parts;
  const accounts = accountOptionsOf(configuration);
  return {
    store,
    peppers,
    keysMax: configuration.keys.keysMax,
    keys: configuration.keys,
    endpoints,
    now: Date.now,
    source,
    mailer,
    mailPace: new MailPace(configuration.mail, Date.now),
    accounts,
    configuration: () => showConfiguration(configuration),
    configurationFile: configuration.file,
    service: {
      version: PROGRAM_VERSION,
      get signUp() {
        return accounts.signUp;
      },
      oidc: accounts.oidc.map(({ id, name }) => ({ id, name })),
      network: configuration.networks.default,
      urls: () => urlsOf(reachedAt(), accounts.publicUrl),
      hasShredStage: () => reachedAt().hasShredStage,
      mode: () => modeOf(reachedAt()),
      get plans() {
        return configuration.plans.map(({ id, name }) => ({ id, name }));
      },
    },
    ...parts.more,
  };
}
