#!/bin/sh
# Copia una carpeta en otra, con la fecha en el nombre: respaldo.sh <origen> <destino> [fecha]
set -eu

if [ $# -lt 2 ]; then
  echo "uso: respaldo.sh <origen> <destino> [fecha]" >&2
  exit 2
fi
if [ ! -d "$1" ]; then
  echo "respaldo: no existe la carpeta $1" >&2
  exit 1
fi

copia="$2/$(basename "$1")-${3:-$(date +%Y-%m-%d)}"
if [ -e "$copia" ]; then
  echo "respaldo: ya existe $copia" >&2
  exit 1
fi

mkdir -p "$2"
cp -Rp "$1" "$copia"
echo "$copia"
