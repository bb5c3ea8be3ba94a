@echo off
rem Set up what is needed, then open the page; with arguments run a command instead.
rem   start.bat --setup-only            only set up (also repairs)
rem   --cuda12 --directml --cpu --default   choose another build of ONNX Runtime
setlocal EnableDelayedExpansion
set "HERE=%~dp0"
set "SETUP="
set "APP="
set "ONLY=0"
:next
if "%~1"=="" goto found
if /I "%~1"=="--setup-only" (set "ONLY=1" & shift & goto next)
if /I "%~1"=="--cuda12" (set "SETUP=!SETUP! %1" & shift & goto next)
if /I "%~1"=="--directml" (set "SETUP=!SETUP! %1" & shift & goto next)
if /I "%~1"=="--cpu" (set "SETUP=!SETUP! %1" & shift & goto next)
if /I "%~1"=="--default" (set "SETUP=!SETUP! %1" & shift & goto next)
set APP=!APP! %1
shift
goto next
:found
set "PYTHON="
if exist "%HERE%.venv\Scripts\python.exe" set "PYTHON=%HERE%.venv\Scripts\python.exe"
for %%V in (3.12 3.11 3.13) do (
  if not defined PYTHON (
    py -%%V -c "import sys" >nul 2>nul && set "PYTHON=py -%%V"
  )
)
if not defined PYTHON (
  python -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))" >nul 2>nul && set "PYTHON=python"
)
if not defined PYTHON (
  echo No Python from 3.11 to 3.13 was found. Install one from python.org and start again. 1>&2
  exit /b 1
)
if exist "%HERE%.venv\Scripts\python.exe" ("%HERE%.venv\Scripts\python.exe" "%HERE%scripts\prepare.py"%SETUP%) else (%PYTHON% "%HERE%scripts\prepare.py"%SETUP%)
if errorlevel 1 exit /b 1
if "%ONLY%"=="1" exit /b 0
"%HERE%.venv\Scripts\python.exe" "%HERE%app.py"%APP%
exit /b %errorlevel%
