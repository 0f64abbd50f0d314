import type { IncomingMessage } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { SignIn } from '../../control/accounts/sign-in.ts';
import { buildHandlers } from '../../control/api/handlers/handlers.ts';
import { ControlApi } from '../../control/api/server/control-api.ts';
import { HttpApi } from '../../control/api/server/http-api.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { TrustedProxies } from '../../servers/client-address.ts';
import type { HttpHandler, HttpRoutes } from '../../servers/http/routes.ts';
import { apiServicesOf, type ControlOptions } from './control-services.ts';

/** Path prefix of the control API and of sign-in requests. */
export const CONTROL_PREFIX = '/api/';

const httpMethods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;

/** @returns a function that emails reset links; null (no resets) if mail or the public URL is not configured. */
function createResetMailer({ mailer, log }: ControlOptions, publicUrl: string | null) {
  if (mailer === null || publicUrl === null) return null;
  return async (email: string, token: string): Promise<void> => {
    const text = [
      'We received a request to reset the password of your Solway account. To choose a new one, open this link within an hour:',
      `${publicUrl}/reset-password#token=${token}`,
      'If it was not you, ignore this message. Your password is unchanged.\n',
    ].join('\n\n');
    // Not awaited: otherwise, the response time would reveal whether the account exists.
    mailer.send({ to: email, subject: 'Reset your Solway password', text, isUrgent: true }).catch(() => {
      // The error is not logged: it may contain the email address.
      log.warn('Failed to send a password reset mail');
    });
  };
}

export function openControl(options: ControlOptions) {
  const { configuration, store, peppers, log } = options;
  const services = apiServicesOf(options);
  const accountOptions = services.accounts;
  const api = new ControlApi({ services, handlers: buildHandlers(services), log });
  const signIn = new SignIn({
    store,
    peppers,
    options: accountOptions,
    fallbackUrl: `${configuration.server.tls === null ? 'http' : 'https'}://localhost:${configuration.server.port}`,
    mailReset: createResetMailer(options, accountOptions.publicUrl),
    now: services.now,
    log,
  });
  void signIn.start();
  const http = new HttpApi({
    api,
    identify: (request, { address }) => signIn.identify(request, address),
    signIn: signIn.guard,
    options: configuration.controlApi,
  });
  return {
    services,
    api,
    routes: (proxies: TrustedProxies) => controlRoutes(http, proxies),
    /** Ends streaming responses, such as live request logs. */
    endStreams: () => http.endStreams(),
    stop: () => signIn.stop(),
  };
}

export type Control = ReturnType<typeof openControl>;

export function controlRoutes(http: HttpApi, proxies: TrustedProxies): HttpRoutes {
  const addressOf = ({ socket, headers }: IncomingMessage): string =>
    proxies.clientOf(socket, headers).address;
  const listener = getRequestListener(
    (request, env) => http.fetch(request, { address: addressOf(env.incoming as IncomingMessage) }),
    { overrideGlobalObjects: false, hostname: 'localhost' },
  );
  const handler: HttpHandler = (request, response) => listener(request, response);
  return new Map([[`${CONTROL_PREFIX}**`, new Map(httpMethods.map((method) => [method, handler]))]]);
}

/** Error body for a request under `/api/` that is rejected before it reaches the control API. */
export const controlRejectionBody = (failure: Failure): Buffer =>
  Buffer.from(`${JSON.stringify({ error: { code: failure.code, message: failure.text, requestId: '' } })}\n`);
