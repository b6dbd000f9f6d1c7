#!/bin/sh
# Installs a release of fundfeed: downloads the program of this platform, checks its sum, and puts it into a directory of the PATH.
#   sh install.sh [--version VERSION] [--to DIRECTORY] [--unit] [--verify OWNER/NAME] [--releases URL]
#   sh install.sh --remove [--to DIRECTORY]
# Without --version, the newest release is taken. --unit also installs the systemd unit (as root), and --verify asks GitHub's gh whether that
# repository built the program.
# --remove removes the program and its unit. The data stay where they are.
set -eu

releases=@RELEASES@
repository=
version=latest
directory=
unit=no
remove=no
fail() { echo "install.sh: $1" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --releases) releases=$2; shift 2 ;;
    --version) version=$2; shift 2 ;;
    --to) directory=$2; shift 2 ;;
    --verify) repository=$2; shift 2 ;;
    --unit) unit=yes; shift ;;
    --remove) remove=yes; shift ;;
    *) fail "unknown option $1" ;;
  esac
done
if [ -z "$directory" ]; then
  if [ "$(id -u)" = 0 ]; then directory=/usr/local/bin; else directory=$HOME/.local/bin; fi
fi
if [ "$remove" = yes ]; then
  service=/etc/systemd/system/fundfeed.service
  if [ -e "$service" ] && grep -q "^ExecStart=$directory/fundfeed " "$service"; then
    [ "$(id -u)" = 0 ] || fail "removing $service needs root"
    systemctl disable --now fundfeed || true
    rm "$service"
    systemctl daemon-reload || true
  fi
  rm -f "$directory/fundfeed"
  echo "Removed $directory/fundfeed. The data stay where they are."
  exit 0
fi
case $releases in http://*|https://*) ;; *) fail "say where the releases are: --releases https://…" ;; esac

case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "there is no program for $(uname -s)" ;; esac
case $(uname -m) in x86_64|amd64) cpu=x64 ;; aarch64|arm64) cpu=arm64 ;; *) fail "there is no program for $(uname -m)" ;; esac
libc=
if [ "$os" = linux ] && ! (getconf GNU_LIBC_VERSION >/dev/null 2>&1); then libc=-musl; fi
name=fundfeed-$os-$cpu$libc

if [ "$version" = latest ]; then from=$releases/latest/download; else from=$releases/download/v${version#v}; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v curl >/dev/null || fail "curl is needed"
case $releases in https:*) protocols='=https' ;; *) protocols='=http,https' ;; esac
download() { curl --proto "$protocols" --fail --silent --show-error --location --output "$2" "$1"; }
echo "Downloading $from/$name"
download "$from/SHA256SUMS" "$work/SHA256SUMS" || fail "$from/SHA256SUMS cannot be downloaded"
download "$from/$name" "$work/$name" || fail "$from/$name cannot be downloaded"
if command -v sha256sum >/dev/null; then sum=$(sha256sum "$work/$name"); else sum=$(shasum -a 256 "$work/$name"); fi
wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "SHA256SUMS does not name $name: nothing was installed"
[ "${sum%% *}" = "$wanted" ] || fail "the sum of $name is ${sum%% *}, but SHA256SUMS says $wanted: nothing was installed"
if [ -n "$repository" ]; then
  gh attestation verify "$work/$name" --repo "$repository" || fail "$name was not built by $repository: nothing was installed"
fi

mkdir -p "$directory"
chmod 0755 "$work/$name"
mv -f "$work/$name" "$directory/fundfeed.new"
mv -f "$directory/fundfeed.new" "$directory/fundfeed"
"$directory/fundfeed" version
case :$PATH: in *:"$directory":*) ;; *) echo "$directory is not in the PATH" ;; esac

if [ "$unit" = yes ]; then
  [ "$(id -u)" = 0 ] || fail "--unit needs root"
  download "$from/fundfeed.service" "$work/fundfeed.service" || fail "$from/fundfeed.service cannot be downloaded"
  wanted=$(awk '$2 == "fundfeed.service" { print $1 }' "$work/SHA256SUMS")
  sum=$(sha256sum "$work/fundfeed.service")
  [ "${sum%% *}" = "$wanted" ] || fail "the sum of fundfeed.service is not that of SHA256SUMS"
  sed -e "s|/usr/local/bin/fundfeed|$directory/fundfeed|" -e 's|^User=fundfeed$|DynamicUser=yes|' "$work/fundfeed.service" > /etc/systemd/system/fundfeed.service
  echo "Start it with: systemctl daemon-reload && systemctl enable --now fundfeed"
fi
