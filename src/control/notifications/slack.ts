/** Source: Slack, "Formatting text for app surfaces": these three characters are escaped. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Body for an incoming webhook. */
export const slackMessage = ({
  subject,
  text,
}: Readonly<{ subject: string; text: string }>): Readonly<{ text: string }> => ({
  text: `*${escapeText(subject)}*\n${escapeText(text.trimEnd())}`,
});
