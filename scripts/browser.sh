# !/bin/sh Prints the path of a browser for the tests. The variable CHROMIUM, FIREFOX or WEBKIT
# names it, or it is found under its usual names. If there is none, Debian's package is installed.
# This needs apt-get as root, or a sudo without a password.
#
#	scripts/browser.sh chromium|headless|firefox|webkit
#
# headless is Chromium without windows, as Debian packages it. It opens a page with three quarters
# of the processor time. If it cannot be installed, Chromium is used instead.
case $1 in
chromium)
	variable=CHROMIUM named=$CHROMIUM packages=chromium asked=--version calls=Chrom
	places='chromium:chromium-browser:google-chrome:google-chrome-stable:chrome:/Applications/Chromium.app/Contents/MacOS/Chromium:/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ;;
headless)
	variable=CHROMIUM named=$CHROMIUM packages=chromium-headless-shell asked=--version calls=Chrom
	places=/usr/lib/chromium/chromium-headless-shell:chrome-headless-shell ;; # Debian's script in bin cannot be killed
firefox)
	variable=FIREFOX named=$FIREFOX packages=firefox-esr asked=--version calls=Firefox
	places='firefox-esr:firefox:/Applications/Firefox.app/Contents/MacOS/firefox' ;;
webkit) # the browser that WebKitGTK's driver starts needs a screen: Xvfb is one
	variable=WEBKIT named=$WEBKIT packages='webkit2gtk-driver xvfb xauth' asked=--help calls=WebKitWebDriver
	places=WebKitWebDriver ;;
*) echo "usage: scripts/browser.sh chromium|headless|firefox|webkit" >&2; exit 2 ;;
esac

# Ubuntu's chromium-browser may be a script that only tells how to get the real one.
find() {
	IFS=:
	for place in ${named:-$places}; do
		path=$(command -v "$place") && "$path" $asked 2>/dev/null | grep -q "$calls" && echo "$path" && exit
	done
	unset IFS
}

find
if test -z "$named" && command -v apt-get >/dev/null; then
	echo "browser.sh: no $1 found, installing Debian's package with apt-get (a few minutes)" >&2
	sudo=
	test "$(id -u)" = 0 || sudo='sudo -n'
	{ $sudo apt-get update -q && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends fonts-liberation $packages; } >&2 && find
fi
test "$1" = headless && exec "$0" chromium
echo "browser.sh: there is no $1: install it (Debian: $packages), or name one: $variable=/path/to/it make test" >&2
exit 1
