@echo off
rem Set up what is needed, then open the page; with arguments run a command instead.
rem   start.bat --setup-only                      only set up (also repairs)
rem   --cpu --cuda12 --directml --auto            choose another build of ONNX Runtime, once
setlocal DisableDelayedExpansion
set "PYTHONHOME="
set "PYTHONPATH="
set "FITS=import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"

set PYTHON="%~dp0.venv\Scripts\python.exe"
if exist %PYTHON% %PYTHON% -c "%FITS%" >nul 2>nul && goto found
set "PYTHON=py -3.12"
%PYTHON% -c "%FITS%" >nul 2>nul && goto found
set "PYTHON=py -3.11"
%PYTHON% -c "%FITS%" >nul 2>nul && goto found
set "PYTHON=py -3.13"
%PYTHON% -c "%FITS%" >nul 2>nul && goto found
set "PYTHON=python"
%PYTHON% -c "%FITS%" >nul 2>nul && goto found
echo No Python from 3.11 to 3.13 was found. Install one from python.org and start again. 1>&2
if "%~1"=="" pause
exit /b 1

:found
%PYTHON% "%~dp0scripts\start.py" %*
set "CODE=%ERRORLEVEL%"
rem A window opened by a double click would close before anyone could read why.
if not "%CODE%"=="0" if "%~1"=="" pause
exit /b %CODE%
