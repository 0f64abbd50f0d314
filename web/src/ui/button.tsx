import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icon.tsx';

export type ButtonProps = Readonly<{
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  size?: 'm' | 's';
  icon?: IconName;
  busy?: boolean;
  children?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}> &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'>;

export function Button({
  kind = 'plain',
  size = 'm',
  icon,
  busy = false,
  disabled,
  children,
  className,
  type = 'button',
  ...rest
}: ButtonProps) {
  const classes = ['button', `button-${kind}`, size === 's' ? 'button-s' : '', className]
    .filter(Boolean)
    .join(' ');
  return (
    <button
      {...rest}
      type={type}
      className={classes}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}

export const IconButton = ({
  label,
  ...rest
}: Omit<ButtonProps, 'children'> & { label: string; icon: IconName }) => (
  <Button
    kind="quiet"
    {...rest}
    aria-label={label}
    title={label}
    className={`icon-button ${rest.className ?? ''}`}
  />
);
